import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupsOfTable } from '../../src/comm/split/sort/groups-of-table.js'
import { cases } from '../support/soak.js'

const int32 = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, 0, -1, 255, 256, -256),
)
const color = fc.oneof(
  fc.integer({ min: 0, max: 4 }),
  fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  fc.constantFrom(-1, -1, 0, 2 ** 31 - 1),
)
const rows = fc.array(fc.tuple(color, int32), { maxLength: 200 })

/** Straight from MPI's words: group by color, order by key, ties by rank. */
function oracle(table: readonly (readonly [number, number])[]): number[][] {
  const colors = [...new Set(table.map(([c]) => c))].filter((c) => c >= 0).sort((a, b) => a - b)
  return colors.map((wanted) =>
    [...table.keys()]
      .filter((rank) => table[rank][0] === wanted)
      .sort((a, b) => table[a][1] - table[b][1] || a - b),
  )
}

function groupsOf(table: readonly (readonly [number, number])[]): number[][] {
  const { start, members } = groupsOfTable({
    color: Int32Array.from(table, ([c]) => c),
    key: Int32Array.from(table, ([, k]) => k),
  })
  return Array.from({ length: start.length - 1 }, (_, g) => [...members.subarray(start[g], start[g + 1])])
}

describe('groupsOfTable', () => {
  it('groups by color, orders by key, ties by rank', () => {
    fc.assert(
      fc.property(rows, (table) => {
        expect(groupsOf(table)).toEqual(oracle(table))
      }),
      { numRuns: cases(2_000) },
    )
  })

  it('accepts no ranks, one rank, one color, and one color per rank', () => {
    expect(groupsOf([])).toEqual([])
    expect(groupsOf([[-1, 3]])).toEqual([])
    expect(groupsOf([[7, 3]])).toEqual([[0]])
    expect(
      groupsOf([
        [7, 3],
        [7, 2],
        [7, 1],
      ]),
    ).toEqual([[2, 1, 0]])
    expect(
      groupsOf([
        [2, 0],
        [1, 0],
        [0, 0],
      ]),
    ).toEqual([[2], [1], [0]])
  })
})
