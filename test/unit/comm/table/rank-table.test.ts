import { describe, expect, it } from 'vitest'
import { processTable, ranksHostedBy } from '../../../../src/comm/table/process-table.js'
import { rankTable, stridedTable, worldRanksOf } from '../../../../src/comm/table/rank-table.js'
import { processOf, worldLayout } from '../../../../src/messages/process/world-layout.js'

describe('rankTable', () => {
  it.each([
    { worldRanks: [], kind: 'strided' },
    { worldRanks: [7], kind: 'strided' },
    { worldRanks: [9, 2], kind: 'strided' },
    { worldRanks: [0, 1, 2, 3], kind: 'strided' },
    { worldRanks: [3, 8, 13, 18], kind: 'strided' },
    { worldRanks: [6, 4, 2, 0], kind: 'strided' },
    { worldRanks: [0, 1, 3], kind: 'replicated' },
    { worldRanks: [5, 1, 9, 0], kind: 'replicated' },
  ])('$worldRanks is $kind', ({ worldRanks, kind }) => {
    const table = rankTable(Int32Array.from(worldRanks))
    expect(table.kind).toBe(kind)
    expect(table.size).toBe(worldRanks.length)
    expect(worldRanks.map((_, rank) => table.lookup(rank))).toEqual(worldRanks)
    expect([...worldRanksOf(table)]).toEqual(worldRanks)
  })

  it('stores a strided table of any size in constant memory', () => {
    expect(stridedTable(1_000_000).sizeBytes).toBe(stridedTable(1).sizeBytes)
    expect(rankTable(Int32Array.of(0, 1, 3)).sizeBytes).toBe(12)
  })
})

describe('processTable', () => {
  const layouts = [
    worldLayout(16, ['a']),
    worldLayout(16, ['a', 'b']),
    worldLayout(16, ['a', 'a', 'b', 'b', 'c']),
    worldLayout(16, ['a', 'b', 'c', 'd'], [0, 9, 0, 7]),
    worldLayout(16, ['a', 'b', 'c', 'd'], [1, 0, 15, 0]),
  ]
  const tables = [
    [...Array(16).keys()],
    [...Array(16).keys()].reverse(),
    [0, 3, 6, 9, 12, 15],
    [15, 10, 5, 0],
    [8],
    [2, 1, 0, 15, 3, 14, 4],
    [0, 15, 1, 14, 2, 13],
  ]
  for (const [l, layout] of layouts.entries()) {
    it.each(tables)(`numbers processes by smallest rank, layout ${l}, world ranks %j`, (...worldRanks) => {
      const { count, processes, runStart, runProcess } = processTable(
        rankTable(Int32Array.from(worldRanks)),
        layout,
      )
      const hosts = worldRanks.map((worldRank) => processOf(layout, worldRank))
      expect([...processes]).toEqual([...new Set(hosts)])
      expect(count).toBe(processes.count)
      const runs = [...runProcess].flatMap((index, run) =>
        Array<number>(runStart[run + 1] - runStart[run]).fill(processes.at(index)),
      )
      expect(runs).toEqual(hosts)
      for (let process = 0; process < layout.processes; process++) {
        expect(processes.indexOf(process)).toBe([...processes].indexOf(process))
        const hosted = ranksHostedBy(process, rankTable(Int32Array.from(worldRanks)), layout)
        expect([...hosted]).toEqual([...hosts.keys()].filter((rank) => hosts[rank] === process))
      }
      for (let run = 1; run < runProcess.length; run++) expect(runProcess[run]).not.toBe(runProcess[run - 1])
    })
  }

  it('does not iterate over the ranks of a strided table', () => {
    const table = stridedTable(4_000_000)
    let lookups = 0
    const counted = Object.assign(Object.create(table) as typeof table, {
      lookup: (rank: number) => {
        lookups++
        return table.lookup(rank)
      },
    })
    const { runStart } = processTable(
      counted,
      worldLayout(4_000_000, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']),
    )
    // Once per process for the list of processes, once for the runs.
    expect(lookups).toBe(16)
    expect([...runStart]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8].map((p) => p * 500_000))
  })
})
