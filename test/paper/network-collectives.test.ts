import { describe, expect, test } from 'vitest'
import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-size.js'
import { boxOf } from '../../src/collective/ways/box.js'
import { ringWays } from '../../src/collective/ways/ring-way.js'
import type { GatherWay } from '../../src/collective/ways/way.js'
import { congestedCost } from '../../src/cost/models/congested-cost.js'
import { closNetwork, torusNetwork } from '../../src/cost/models/congestion-network.js'
import { scheduleStages } from '../../src/cost/models/stages.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { closShuffleBytes, torusShuffleBytes } from '../support/published-stages.js'
import { nodesOfGrid, sentAlong, torusGrid } from '../support/way-messages.js'

// What Sack 2011 chapter 3 prints of allgathers on tori and Clos networks, of the library's own schedules. Costs are
// `messages` alpha and `bytes` n delta.

const allgatherOn = (dims: readonly number[], order: string, shuffle = 0) => {
  const grid = torusGrid(dims)
  const setting = `allgather-reordered:order=${order},shuffle=${shuffle}`
  return scheduleOf(algorithmOf(setting), { ranks: nodesOfGrid(grid), grid })
}

describe('recursive doubling on 8 x 8 x 8', () => {
  const dims = [8, 8, 8]

  test.each([
    ['doubling', 949],
    ['halving', 730],
    ['network', 574],
  ])('%s: 9 alpha + %i n delta', (order, expected) => {
    const stages = scheduleStages(allgatherOn(dims, order), 1)
    expect(congestedCost(torusNetwork(dims), stages)).toEqual({ messages: 9, bytes: expected })
  })

  test('with the shuffle, charged to the bisection: 10 alpha + 576 n delta, 332.7 MB/s at 375 MB/s a link', () => {
    const { messages, bytes } = congestedCost(
      torusNetwork(dims),
      scheduleStages(allgatherOn(dims, 'network'), 1),
    )
    const total = bytes + torusShuffleBytes(dims, 1)
    expect([messages + 1, total]).toEqual([10, 576])
    expect((511 / total) * 375).toBeCloseTo(332.7, 1)
  })

  test('simulated with the shuffle on long blocks: 332.7 MB/s within 3%', () => {
    const machine = parseMachine('torus:dims=8x8x8,profile=bluegene-p')
    const bytes = 600_000
    const { timeUs } = simulate(allgatherOn(dims, 'network', 1), machine, { bytes })
    expect(Math.abs((bytes * 511) / timeUs / 332.7 - 1)).toBeLessThan(0.03)
  })
})

const ringsOf = (dims: readonly number[], ports: number): readonly GatherWay[] => {
  const grid = torusGrid(dims)
  return ringWays(boxOf(grid, nodesOfGrid(grid)), ports)
}

/** Sections that a participant sends in each phase of a way: a phase's messages are equally long. */
function sectionsPerPhase({ messages }: GatherWay): readonly number[] {
  const sums = new Map<number, number>()
  for (const { isSent, count } of messages(0)) if (isSent) sums.set(count, (sums.get(count) ?? 0) + count)
  return [...sums.values()]
}

describe('six buckets at once', () => {
  test('8 x 16 x 32, padding and shuffle included: 327 alpha + 4591/6 n delta', () => {
    const dims = [8, 16, 32]
    const ways = ringsOf(dims, 6)
    const perWay = ways.map(sectionsPerPhase)
    const slowest = [0, 1, 2].map((phase) => Math.max(...perWay.map((sums) => sums[phase])))
    expect(slowest).toEqual([31, 496, 3968])
    // Padding 3 messages and the shuffle 6, each charged to the bisection.
    expect(3 + 6 + sentAlong(ways, 0)).toBe(327)
    const shuffles = 2 * torusShuffleBytes(dims, 1)
    expect(slowest.reduce((a, b) => a + b, 0) / 6 + shuffles).toBeCloseTo(4591 / 6, 9)
  })

  test('32 x 32 x 32: 260.9 ms for 16 KiB and 518.2 ms for 32 KiB, 6.29 us a message and 93% of 375 MB/s a link', () => {
    const dims = [32, 32, 32]
    const ways = ringsOf(dims, 6)
    const messages = 3 + 6 + sentAlong(ways, 0)
    const sections = sectionsPerPhase(ways[0]).reduce((a, b) => a + b, 0)
    expect([messages, sections]).toEqual([567, 32_767])
    const units = sections / 6 + 2 * torusShuffleBytes(dims, 1)
    const msOf = (bytes: number): number => (messages * 6.29 + (units * bytes) / (0.93 * 375)) / 1000
    for (const [bytes, predicted, measured] of [
      [16_384, 260.9, 260.789],
      [32_768, 518.2, 517.573],
    ]) {
      expect(msOf(bytes)).toBeCloseTo(predicted, 1)
      expect(Math.abs(msOf(bytes) / measured - 1)).toBeLessThan(0.002)
    }
  })
})

describe('a Clos network, 32 nodes per switch, a quarter of the bandwidth between them', () => {
  const networkOfNodes = (nodes: number) => closNetwork({ nodes, nodesPerSwitch: 32, taper: 1 / 4 })
  const costOf = (order: string, ranks: number) =>
    congestedCost(
      networkOfNodes(ranks),
      scheduleStages(scheduleOf(algorithmOf(`allgather-reordered:order=${order}`), { ranks }), 1),
    ).bytes

  test('1,024 nodes: distance doubling 3999 n, halving with its shuffle 1120 n', () => {
    expect(costOf('doubling', 1024)).toBe(3999)
    expect(costOf('halving', 1024) + closShuffleBytes(1 / 4, 1)).toBe(1120)
    // As messages: one node of each switch keeps its block.
    expect(costOf('halving,shuffle=1', 1024)).toBe(1116 + 31 / 8)
  })

  // Routes are static in the simulator, and balanced in the source: 1,024 nodes are in test/soak/network-collectives.soak.ts.
  test('256 nodes: the simulator agrees on doubling and on halving where nothing is packed', () => {
    const machine = parseMachine('clos:radix=40,levels=2,taper=4,nodes=256,profile=niagara')
    const { profile } = machine
    const free = { ...profile!, memory: { copyNsPerByte: 0, copyBlockNs: 0, reduceNsPerByte: 0 } }
    for (const order of ['doubling', 'halving']) {
      const schedule = scheduleOf(algorithmOf(`allgather-reordered:order=${order}`), { ranks: 256 })
      const { timeUs } = simulate(schedule, { ...machine, profile: free }, { bytes: 600_000 })
      const units = (timeUs * 1000) / (600_000 * 0.08)
      expect(Math.abs(units / costOf(order, 256) - 1)).toBeLessThan(0.01)
    }
  })
})
