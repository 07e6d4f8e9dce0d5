import { closNetwork, congestedCost, scheduleStages, torusNetwork } from 'rankweave/models'
import { algorithmOf, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { predictNetwork } from '../../src/cost/models/network-cost.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { closShuffleBytes, torusShuffleBytes } from '../support/published-stages.js'
import { nodesOfGrid, torusGrid } from '../support/way-messages.js'

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

/** The closed cost of six buckets with a shuffle on a torus with the profile of Blue Gene/P. */
const sixBuckets = (dims: readonly number[], bytes: number) =>
  predictNetwork('allgather', parseMachine(`torus:dims=${dims.join('x')},profile=bluegene-p`), bytes).find(
    ({ algorithm }) => algorithm === 'allgather-bucket:ports=6,shuffle=1',
  )!

describe('six buckets at once', () => {
  test('8 x 16 x 32: 327 alpha + 4591/6 n delta, less 3 alpha and 8 n delta for the padding of the source', () => {
    const { messages, units } = sixBuckets([8, 16, 32], 600_000)
    expect(messages + 3).toBe(327)
    expect(units + torusShuffleBytes([8, 16, 32], 1)).toBeCloseTo(4591 / 6, 9)
  })

  test.each([
    [16_384, 260.9, 260.789],
    [32_768, 518.2, 517.573],
  ])('32 x 32 x 32, %i bytes: %f ms by the source, %f ms measured', (bytes, predicted, measured) => {
    const { messages, units, timeUs } = sixBuckets([32, 32, 32], bytes)
    expect([messages + 3, (units - 8) * 6]).toEqual([567, 32_767])
    // The source takes 93% of 375 MB/s where the profile has the bandwidth of the node.
    const withPadding = (567 * 6.29 + ((units + 8) * bytes) / (0.93 * 375)) / 1000
    expect(withPadding).toBeCloseTo(predicted, 1)
    expect(Math.abs(timeUs / 1000 / measured - 1)).toBeLessThan(0.006)
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
