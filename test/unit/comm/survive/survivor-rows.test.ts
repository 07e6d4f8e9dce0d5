import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../../../src/base/bytes.js'
import { sha256 } from '../../../../src/base/hash.js'
import { rowsCall, SurvivorRows } from '../../../../src/comm/survive/survivor-rows.js'
import type { TableContext } from '../../../../src/comm/table/process-table.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'
import { coded } from '../../../support/on-ranks.js'

/** The first of three processes with two ranks each. */
function rowsOfFirst() {
  const layout = worldLayout(6, ['a', 'a', 'a'])
  const blamed: string[] = []
  const fabric = { maxPayloadBytes: 8, blame: (_: number, reason: string) => blamed.push(reason) }
  const lost = new Set<number>()
  const lostPeer = (peer: number) => (lost.has(peer) ? new Error('lost') : undefined)
  const runtime = { process: 0, layout, lostPeer, send() {}, fabric }
  const state = {
    ...{ id: { leader: 0, counter: 1 }, runtime, size: 6, processes: { processes: [0, 1, 2] } },
    ...{ localRanks: Int32Array.of(0, 1), worldRank: (n: number) => n },
  }
  return Object.assign(new SurvivorRows(state as unknown as TableContext), { blamed, lost })
}

const header = (seq: number, total: number, at: number) => Int32Array.of(21, 0, 1, seq, total, at)

describe('rows of survivors', () => {
  it('arrive in frames, before or after they are waited for', async () => {
    const rows = rowsOfFirst()
    expect(rowsCall(header(7, 4, 0))).toBe(7)
    rows.frame(1, header(7, 4, 0), bytesOf(Int32Array.of(2, 2)))
    const exchanged = rows.exchange(7, [0, 1, 2], new Map())
    rows.frame(2, header(7, 4, 0), bytesOf(Int32Array.of(4, 4, 5, 5)))
    rows.frame(1, header(7, 4, 2), bytesOf(Int32Array.of(3, 3)))
    await exchanged
    expect([...rows.take(7, [0, 1, 2])]).toEqual([0, 1, 2, 3, 4, 5])
  })

  it.each([
    ['more ranks than the process has', 6, 0, 2],
    ['less than none', -1, 0, 0],
    ['another total', 2, 2, 2],
    ['a part again', 4, 0, 2],
    ['a gap', 4, 3, 1],
    ['more than there are', 4, 2, 4],
    ['an empty part', 4, 2, 0],
    ['a rank of another process', 4, 2, 2],
  ])('are refused with ERR_PROTOCOL: %s', (_, total, at, words) => {
    const rows = rowsOfFirst()
    rows.frame(1, header(0, 4, 0), bytesOf(Int32Array.of(2, 2)))
    const frame = () => rows.frame(1, header(0, total, at), bytesOf(new Int32Array(words)))
    expect(frame).toThrow(coded('ERR_PROTOCOL'))
  })

  it.each([
    ['a rank twice', [2, 2, 2, 3], 'a rank from 3 to 5, got 2'],
    ['ranks that fall', [3, 2, 2, 3], 'a rank from 4 to 5, got 2'],
    ['a negative rank', [-1, 2], 'a rank from 0 to 5, got -1'],
    ['a rank beyond the last', [6, 2], 'a rank from 0 to 5, got 6'],
    ['a rank of the receiver', [1, 2], 'no rank of process 0, got 1'],
    ['a world rank twice', [2, 2, 3, 2], 'each world rank once, got 2'],
    ['a world rank of another process', [2, 4], 'world ranks that it hosts, got 4'],
  ])('are refused by the name of their process: %s', (_, words, fault) => {
    const rows = rowsOfFirst()
    const frames = () => {
      for (let at = 0; at < words.length; at += 2)
        rows.frame(1, header(0, words.length, at), bytesOf(Int32Array.from(words.slice(at, at + 2))))
    }
    expect(frames).toThrow(
      expect.objectContaining({
        code: 'ERR_PROTOCOL',
        message: `rows of survivors of process 1: expected ${fault}`,
        details: { process: 1 },
      }),
    )
  })

  it('are checked where a pair is cut in two', () => {
    const rows = rowsOfFirst()
    rows.frame(1, header(0, 4, 0), bytesOf(Int32Array.of(2)))
    rows.frame(1, header(0, 4, 1), bytesOf(Int32Array.of(2, 2)))
    expect(() => rows.frame(1, header(0, 4, 3), bytesOf(Int32Array.of(3)))).toThrow('a rank from 3 to 5')
  })

  it('of a process that has committed to others are not taken: it is blamed', async () => {
    const rows = rowsOfFirst()
    const digests = new Map([
      [
        1,
        sha256()
          .update(bytesOf(Int32Array.of(2, 2, 3, 3)))
          .digest(),
      ],
      [
        2,
        sha256()
          .update(bytesOf(Int32Array.of(4, 4, 5, 5)))
          .digest(),
      ],
    ])
    const exchanged = rows.exchange(7, [0, 1, 2], digests)
    rows.frame(1, header(7, 4, 0), bytesOf(Int32Array.of(2, 2, 3, 3)))
    rows.frame(2, header(7, 2, 0), bytesOf(Int32Array.of(5, 5)))
    expect(rows.blamed).toEqual([
      'rows of survivors of process 2: expected the rows that it has committed to, got others',
    ])
    rows.lost.add(2)
    rows.check()
    await exchanged
    expect([...rows.take(7, [0, 1])]).toEqual([0, 1, 2, 3])
  })

  it('are refused that are no whole numbers', () => {
    expect(() => rowsOfFirst().frame(1, header(0, 4, 0), new Uint8Array(3))).toThrow('expected at most 4')
  })
})
