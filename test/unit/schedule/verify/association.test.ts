import { type Schedule, ScheduleBuilder, treeAssociation, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import {
  chainScan,
  disseminationBarrier,
  doublingAllreduce,
  flatReduce,
  halvingReduceScatter,
  ringAllreduce,
} from '../../../support/reduction-schedules.js'

const associationOf = (schedule: Schedule): string | null => verify(schedule).association

/**
 * A reduce of one rank that is given all blocks: combines the halves of aligned powers of two of rank
 * numbers.
 */
function treeReduce(numbers: readonly number[]): Schedule {
  const ranks = numbers.length
  const base = specificationOf({ collective: 'reduce' }, { ranks })
  const ownStart = new Int32Array(ranks + 1).fill(ranks)
  ownStart[0] = 0
  const specification = { ...base, ownStart, ownBlock: Int32Array.from(numbers, (_, i) => i) }
  const builder = new ScheduleBuilder({ specification, strategy: 'tree' })
  const node = (first: number, size: number): number => {
    const half = size / 2
    const inside = (from: number, to: number) => numbers.some((n) => n >= from && n < to)
    if (size === 1) return numbers.indexOf(first)
    if (!inside(first, first + half)) return node(first + half, half)
    if (!inside(first + half, first + size)) return node(first, half)
    const [left, right] = [node(first, half), node(first + half, half)]
    const isRoot = numbers.every((n) => n >= first && n < first + size)
    const to = isRoot ? builder.slot(0, 0) : builder.stage(0)
    builder.combine(0, 0, 0, left, right, to)
    return to
  }
  if (ranks === 1) builder.copy(0, 0).add(0, 0, builder.slot(0, 0))
  else node(0, 2 ** 16)
  return builder.build()
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

describe('treeAssociation', () => {
  test('is the association of the tree over any number of ranks', () => {
    for (let ranks = 1; ranks <= 33; ranks++) {
      expect(associationOf(treeReduce(upTo(ranks)))).toBe(treeAssociation(ranks))
    }
  })

  test('puts participants that are runs of ranks where their first rank is', () => {
    for (const firsts of [
      [0, 4, 8, 12],
      [0, 3, 4, 5, 11],
      [0, 1, 2, 9],
      [0, 100],
    ]) {
      const firstRank = Int32Array.of(...firsts, 128)
      expect(associationOf(treeReduce(firsts))).toBe(treeAssociation(firsts.length, { firstRank }))
    }
    expect(treeAssociation(4, { firstRank: Int32Array.of(0, 4, 8, 12, 16) })).toBe(treeAssociation(4))
    expect(treeAssociation(4, { firstRank: Int32Array.of(0, 1, 2, 9, 11) })).not.toBe(treeAssociation(4))
  })
})

test('treeAssociation is the same in every version, so that it can be written down', () => {
  expect(treeAssociation(8)).toBe('e3999c2deb16d1b1')
  expect(treeAssociation(5, { collective: 'scan' })).toBe('d15b94c71963cf15')
})

describe('the association of a schedule', () => {
  test('tells algorithms that yield the same bits as the tree from others', () => {
    expect(associationOf(doublingAllreduce(8))).toBe(treeAssociation(8))
    expect(associationOf(flatReduce(3))).toBe(treeAssociation(3))
    expect(associationOf(flatReduce(4))).not.toBe(treeAssociation(4))
    expect(associationOf(flatReduce(4, false))).not.toBe(associationOf(flatReduce(4)))
  })

  test('does not depend on segments', () => {
    expect(associationOf(doublingAllreduce(4, 3))).toBe(associationOf(doublingAllreduce(4)))
    expect(associationOf(chainScan(5, 4))).toBe(associationOf(chainScan(5)))
  })

  test('is null when two slots over the same ranks differ, and without reductions', () => {
    expect(associationOf(ringAllreduce(4))).toBeNull()
    expect(associationOf(doublingAllreduce(4, 1, false))).toBeNull()
    expect(associationOf(disseminationBarrier(3))).toBeNull()
    expect(associationOf(doublingAllreduce(1))).toBe(treeAssociation(1))
    const { specification } = new ScheduleBuilder({
      specification: specificationOf({ collective: 'bcast' }, { ranks: 1 }),
      strategy: 'nothing',
    })
    expect(associationOf(new ScheduleBuilder({ specification, strategy: 'nothing' }).build())).toBeNull()
  })

  test('is not null when parts are combined in the same order at different ranks', () => {
    expect(associationOf(halvingReduceScatter(4))).not.toBeNull()
    expect(associationOf(halvingReduceScatter(4))).not.toBe(treeAssociation(4))
    expect(associationOf(halvingReduceScatter(2))).toBe(treeAssociation(2))
  })
})
