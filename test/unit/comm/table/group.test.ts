import { Group, PROC_NULL, type RankRange } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { rankTable, stridedTable } from '../../../../src/comm/table/rank-table.js'
import { codeOf } from '../../../support/on-ranks.js'
import { thrownCode } from '../../messages/p2p/point-to-point-world.js'

const group = (...worldRanks: number[]) => Group.ofTable(rankTable(Int32Array.from(worldRanks)))
const ranksOf = async (g: Group) => [...(await g.worldRanks())]
const failing = (code: string) => (call: () => unknown) => expect(thrownCode(call)).toBe(code)
const expectRank = failing('ERR_RANK')

describe('Group', () => {
  it('preserves the order of its members and finds them', async () => {
    const g = group(9, 2, 30, 4)
    expect(g.size).toBe(4)
    expect(await ranksOf(g)).toEqual([9, 2, 30, 4])
    expect(await Promise.all([9, 2, 30, 4, 5, -1].map((r) => g.rankOf(r)))).toEqual([0, 1, 2, 3, null, null])
    const strided = group(10, 7, 4, 1)
    const found = await Promise.all([10, 7, 4, 1, 13, -2, 5].map((r) => strided.rankOf(r)))
    expect(found.join()).toBe('0,1,2,3,,,')
  })

  it('returns a fresh array of world ranks', async () => {
    const g = group(9, 2, 30)
    ;(await g.worldRanks()).fill(0)
    expect(await ranksOf(g)).toEqual([9, 2, 30])
  })

  it('is EMPTY for a table without ranks', () => {
    expect(Group.ofTable(stridedTable(0))).toBe(Group.EMPTY)
    expect(Group.EMPTY.size).toBe(0)
  })

  it('translates ranks, PROC_NULL to itself and non-members to null', async () => {
    const [a, b] = [group(9, 2, 30, 4), group(4, 5, 9)]
    expect(await a.translate([0, 1, PROC_NULL, 3, 0], b)).toEqual([2, null, PROC_NULL, 0, 2])
    expect(await a.translate([], b)).toEqual([])
    expect(await a.translate([0, 1], Group.EMPTY)).toEqual([null, null])
    await expect(a.translate([4], b)).rejects.toMatchObject({ code: 'ERR_RANK' })
    await expect(a.translate([-1], b)).rejects.toMatchObject({ code: 'ERR_RANK' })
  })

  it('forms unions, intersections and differences in the order MPI gives them', async () => {
    const [a, b] = [group(9, 2, 30, 4), group(4, 5, 9)]
    expect(await ranksOf(a.union(b))).toEqual([9, 2, 30, 4, 5])
    expect(await ranksOf(b.union(a))).toEqual([4, 5, 9, 2, 30])
    expect(await ranksOf(a.intersection(b))).toEqual([9, 4])
    expect(await ranksOf(b.intersection(a))).toEqual([4, 9])
    expect(await ranksOf(a.difference(b))).toEqual([2, 30])
    expect(a.difference(a)).toBe(Group.EMPTY)
    expect(a.union(Group.EMPTY)).toBe(a)
    expect(await ranksOf(Group.EMPTY.union(a))).toEqual([9, 2, 30, 4])
    expect(a.intersection(Group.EMPTY)).toBe(Group.EMPTY)
  })

  it('includes and excludes ranks', async () => {
    const g = group(9, 2, 30, 4)
    expect(await ranksOf(g.incl([3, 0]))).toEqual([4, 9])
    expect(await ranksOf(g.excl([3, 0]))).toEqual([2, 30])
    expect(g.incl([])).toBe(Group.EMPTY)
    expect(g.excl([0, 1, 2, 3])).toBe(Group.EMPTY)
    expect(g.excl([])).toBe(g)
    for (const ranks of [[4], [-1], [0.5], [1, 2, 1]]) {
      expectRank(() => g.incl(ranks))
      expectRank(() => g.excl(ranks))
    }
  })

  it.each<{ ranges: RankRange[]; ranks: number[] }>([
    { ranges: [[1, 4, 1]], ranks: [1, 2, 3, 4] },
    {
      ranges: [
        [6, 7, 1],
        [1, 6, 2],
      ],
      ranks: [6, 7, 1, 3, 5],
    },
    { ranges: [[5, 0, -2]], ranks: [5, 3, 1] },
    { ranges: [[3, 1, 1]], ranks: [] },
    { ranges: [[2, 2, 7]], ranks: [2] },
    { ranges: [], ranks: [] },
  ])('understands the ranges $ranges', async ({ ranges, ranks }) => {
    const world = Group.ofTable(stridedTable(8))
    expect(await ranksOf(world.rangeIncl(ranges))).toEqual(ranks)
    expect(await ranksOf(world.rangeExcl(ranges))).toEqual(
      [...Array(8).keys()].filter((r) => !ranks.includes(r)),
    )
  })

  it('rejects values that are not a group, a list or a rank', async () => {
    const world = Group.ofTable(stridedTable(8))
    for (const bad of [null, undefined, 3, 'x', {}, [], Symbol('s')] as never[]) {
      for (const set of [world.union, world.intersection, world.difference])
        failing('ERR_GROUP')(() => set.call(world, bad))
      expect(await codeOf(world.compare(bad))).toBe('ERR_GROUP')
      await expect(world.translate([0], bad)).rejects.toMatchObject({ code: 'ERR_GROUP' })
    }
    for (const bad of [null, undefined, 3, 'x', {}, new DataView(new ArrayBuffer(8))] as never[]) {
      for (const make of [world.incl, world.excl, world.rangeIncl, world.rangeExcl]) {
        failing('ERR_ARGUMENT')(() => make.call(world, bad))
      }
      failing('ERR_ARGUMENT')(() => world.rangeIncl([bad]))
      await expect(world.translate(bad, world)).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
    }
    for (const bad of [Symbol('s'), 1n, 'x', 0.5, Object.create(null)] as never[]) {
      expectRank(() => world.incl([bad]))
      await expect(world.rankOf(bad)).rejects.toMatchObject({ code: 'ERR_RANK' })
    }
  })

  it('rejects invalid ranges', () => {
    const world = Group.ofTable(stridedTable(8))
    failing('ERR_ARGUMENT')(() => world.rangeIncl([[0, 4, 0]]))
    expectRank(() => world.rangeIncl([[0, 8, 1]]))
    expectRank(() => world.rangeIncl([[0, 2 ** 53, 1]]))
    // Rank 4 twice.
    expectRank(() =>
      world.rangeExcl([
        [0, 4, 1],
        [4, 5, 1],
      ]),
    )
  })

  it.each([
    { a: [1, 2, 3], b: [1, 2, 3], is: 'ident' },
    { a: [1, 2, 3], b: [3, 2, 1], is: 'similar' },
    { a: [1, 2, 4], b: [1, 2, 4], is: 'ident' },
    { a: [1, 2, 4], b: [2, 4, 1], is: 'similar' },
    { a: [1, 3, 2], b: [1, 2, 3], is: 'similar' },
    { a: [1, 2, 4], b: [1, 2, 5], is: 'unequal' },
    { a: [1, 2, 3], b: [2, 3, 4], is: 'unequal' },
    { a: [0, 2, 4], b: [0, 4, 8], is: 'unequal' },
    { a: [1, 2], b: [1, 2, 3], is: 'unequal' },
    { a: [7], b: [7], is: 'ident' },
    { a: [], b: [], is: 'ident' },
  ])('$a and $b are $is', async ({ a, b, is }) => {
    expect(await group(...a).compare(group(...b))).toBe(is)
    expect(await group(...b).compare(group(...a))).toBe(is)
  })
})
