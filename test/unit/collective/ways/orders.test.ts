import { congestedCost, scheduleStages, torusNetwork } from 'rankweave/models'
import { algorithmOf, scheduleOf, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { bitsInOrder } from '../../../../src/collective/ways/bit-order.js'
import { boxOf } from '../../../../src/collective/ways/box.js'
import { cubeWays } from '../../../../src/collective/ways/cube-way.js'
import { doublingStages } from '../../../support/published-stages.js'
import {
  mostPerRank,
  nodesOfGrid,
  permutationsOf,
  sentMessages,
  torusGrid,
} from '../../../support/way-messages.js'

const up = (bits: number): number[] => Array.from({ length: bits }, (_, bit) => bit)
const networkOrder = (dims: readonly number[]): readonly number[] => {
  const grid = torusGrid(dims)
  return bitsInOrder('network', boxOf(grid, nodesOfGrid(grid)))
}
const allgather = (order: string, shuffle = 0) =>
  algorithmOf(`allgather-reordered:order=${order},shuffle=${shuffle}`)

describe('the order of a torus', () => {
  test('8 x 8 x 8 is that of Sack 2011 §3.4.1', () => {
    expect(networkOrder([8, 8, 8])).toEqual([8, 5, 2, 7, 4, 1, 6, 3, 0])
  })

  test('8 x 16 x 32: every bit in turn, the most congested first', () => {
    const order = networkOrder([8, 16, 32])
    expect(order.toSorted((a, b) => a - b)).toEqual(up(12))
    const network = torusNetwork([8, 16, 32])
    const congestion = doublingStages(order, 1).map(
      (stage, s) => congestedCost(network, [stage]).bytes / 2 ** s,
    )
    expect(congestion).toEqual([8, 8, 4, 4, 4, 2, 2, 2, 2, 1, 1, 1])
  })

  test.each([[[2]], [[8]], [[16, 2]], [[4, 8]], [[2, 4, 8]], [[4, 4, 4]], [[2, 2, 2, 2, 4]]])(
    '%j: no order of the bits congests less',
    (dims) => {
      const network = torusNetwork(dims)
      const order = networkOrder(dims)
      // A stage's time is in proportion to its lengths, so that one measurement per bit serves all orders.
      const perBit = doublingStages(up(order.length), 1).map(
        (stage, s) => congestedCost(network, [stage]).bytes / 2 ** s,
      )
      const costOf = (bits: readonly number[]) => bits.reduce((sum, bit, s) => sum + 2 ** s * perBit[bit], 0)
      const all = permutationsOf(up(order.length))
      const least = all.reduce((least, bits) => Math.min(least, costOf(bits)), Number.POSITIVE_INFINITY)
      const grid = torusGrid(dims)
      const schedule = scheduleOf(allgather('network'), { ranks: nodesOfGrid(grid), grid })
      expect(congestedCost(network, scheduleStages(schedule, 1)).bytes).toBe(least)
    },
  )
})

test('the map of an order is its own inverse on cubes of side 2 and 8 only, of those up to 32', () => {
  const isInvolution = (side: number): boolean => {
    const grid = torusGrid([side, side, side])
    const [{ originAt }] = cubeWays(grid, side ** 3, 'network', 1)
    return originAt.every((origin, offset) => originAt[origin] === offset)
  }
  expect([2, 4, 8, 16, 32].filter(isInvolution)).toEqual([2, 8])
})

test('bit reversal is its own inverse', () => {
  for (const ranks of [2, 16, 128]) {
    const [{ originAt }] = cubeWays(undefined, ranks, 'halving', 1)
    expect(originAt.every((origin, offset) => originAt[origin] === offset)).toBe(true)
  }
})

describe('with a shuffle every message of an allgather is a run of the result,', () => {
  test.each([1, 2, 3, 4])('for all orders of %i bits', (bits) => {
    for (const order of permutationsOf(up(bits))) {
      const schedule = scheduleOf(allgather(order.join('.'), 1), { ranks: 2 ** bits })
      expect(verify(schedule).violations).toEqual([])
      for (const { blocks } of sentMessages(schedule))
        expect(blocks.every((block, i) => block === blocks[0] + i)).toBe(true)
    }
  })

  test('and ranks send the messages of their stages, one for the shuffle, and a block more', () => {
    const shape = { ranks: 512, grid: torusGrid([8, 8, 8]) }
    const plain = sentMessages(scheduleOf(allgather('network'), shape))
    const shuffled = sentMessages(scheduleOf(allgather('network', 1), shape))
    expect(mostPerRank(plain, 'source', 512)).toBe(9)
    expect(mostPerRank(plain, 'destination', 512)).toBe(9)
    for (const end of ['source', 'destination'] as const) expect(mostPerRank(shuffled, end, 512)).toBe(9 + 1)
    const moved = shuffled.filter(({ phase }) => phase === 0)
    expect(moved.length).toBeLessThan(512)
    expect(shuffled.length).toBe(plain.length + moved.length)
    const bytes = (messages: typeof plain) => messages.reduce((sum, { blocks }) => sum + blocks.length, 0)
    expect(bytes(shuffled)).toBe(bytes(plain) + moved.length)
  })
})

const counts = [...Array.from({ length: 19 }, (_, i) => i + 2), 31, 33, 48, 63, 65, 100]

describe.each(['network', 'doubling', 'halving'])('any number of ranks, %s', (order) => {
  test('2 to 20 ranks and some beyond: at most 2 ceil(lg P) sends, and nothing twice', () => {
    for (const ranks of counts) {
      const schedule = scheduleOf(allgather(order), { ranks })
      expect(verify(schedule).violations).toEqual([])
      const messages = sentMessages(schedule)
      expect(mostPerRank(messages, 'source', ranks)).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(ranks)))
      const got = Array.from({ length: ranks }, (_, rank) => [rank])
      for (const { destination, blocks } of messages) got[destination].push(...blocks)
      for (const blocks of got) {
        expect(blocks.length).toBe(ranks)
        expect(new Set(blocks).size).toBe(ranks)
      }
    }
  })
})

test.each([
  [3, 5, 2],
  [6, 4, 3],
  [5, 5, 5],
  [7, 1, 6],
  [9, 5],
])('a torus of %j, no power of two: verified, at most 2 sends per stage', (...dims) => {
  const grid = torusGrid(dims)
  const ranks = nodesOfGrid(grid)
  for (const shuffle of [0, 1]) {
    const schedule = scheduleOf(allgather('network', shuffle), { ranks, grid })
    expect(verify(schedule).violations).toEqual([])
    const stages = dims.reduce((sum, extent) => sum + Math.ceil(Math.log2(extent)), 0)
    if (shuffle === 0)
      expect(mostPerRank(sentMessages(schedule), 'source', ranks)).toBeLessThanOrEqual(2 * stages)
  }
})
