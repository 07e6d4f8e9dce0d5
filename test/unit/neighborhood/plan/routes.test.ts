import { formatStrategy, parseStrategy, plan, planStatistics, verify } from 'rankweave/schedule'
import { cartTopology, mooreTopology, type ProcessTopology, topologyFromEdges } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { cluster, type Machine, nodeOf } from '../../../../src/machine/machine.js'
import { refusal } from '../../../support/refusal.js'
import { thrown } from '../../topology/thrown.js'

function statistics(topology: ProcessTopology, text: string, machine?: Machine) {
  const planned = plan(topology, parseStrategy(text), machine && { machine })
  expect(verify(planned.schedule, topology).violations).toEqual([])
  const nodes = machine === undefined ? null : nodeOf(machine, topology.ranks)
  return { ...planStatistics(planned, nodes), phases: planned.schedule.phases }
}

const grid = mooreTopology({ dims: [16, 16], radius: 2 })
const machine = cluster({ nodes: 16, cores: 16 })

test('dimension by dimension: 2rd messages per rank, every block once', () => {
  expect(statistics(grid, 'cartesian:windows=5/5')).toMatchObject({
    phases: 2,
    messages: { meanPerRank: 8, maxPerRank: 8 },
    volumeBlocks: 256 * 24,
  })
})

test('the windows of fewest messages are the default', () => {
  const chosen = statistics(grid, 'cartesian')
  expect(chosen).toMatchObject({ phases: 4, messages: { maxPerRank: 6 } })
  expect(statistics(grid, 'cartesian:windows=2.3/2.3,order=0.1')).toMatchObject({
    messages: chosen.messages,
    volumeBlocks: chosen.volumeBlocks,
  })
  const wide = mooreTopology({ dims: [10, 10], radius: 4 })
  expect(statistics(wide, 'cartesian')).toMatchObject({ phases: 4, messages: { maxPerRank: 8 } })
})

test('a dimension without offsets has the window 1, also in the text of a strategy', () => {
  const text = formatStrategy({ kind: 'cartesian', windows: [[], [3]] })
  expect(text).toBe('cartesian:windows=1/3')
  statistics(topologyFromEdges(4, { sources: [0, 1, 2, 3], destinations: [1, 0, 3, 2] }), 'cartesian')
  expect(parseStrategy(text)).toEqual({ kind: 'cartesian', windows: [[1], [3]] })
})

test('on a Cartesian topology every dimension has a window of three', () => {
  for (const periods of [
    [true, true, true],
    [false, true, false],
  ]) {
    statistics(cartTopology({ dims: [4, 1, 5], periods }), 'cartesian:windows=3/1/3')
    statistics(cartTopology({ dims: [2, 3, 2], periods }), 'cartesian')
  }
})

test('one message per pair of nodes with edges', () => {
  expect(statistics(grid, 'lanes:lanes=1', machine).messages.interNode).toBe(16 * 4)
  // A lane per four ranks, since a node has four partners: every rank sends to another node once.
  expect(statistics(grid, 'lanes', machine)).toMatchObject({ messages: { interNode: 256 } })
})

test('lanes of different widths, the last one repeated: a message each to every node with destinations', () => {
  for (const widths of ['4.8.2.2', '4.8.2'])
    expect(statistics(grid, `lanes:widths=${widths}`, machine).messages.interNode).toBe(16 * 4 * 4)
  expect(statistics(grid, 'lanes:widths=16', machine)).toEqual(statistics(grid, 'lanes:lanes=1', machine))
})

test('blocks for the own node share the messages that spread those of others', () => {
  const messages = (own: string) => statistics(grid, `lanes:lanes=2,own=${own}`, machine).messages.planned
  expect(messages('spread')).toBeLessThan(messages('gather'))
})

test('digits of offsets: all ranks send the same, whatever the product of the radices', () => {
  const { messages } = statistics(grid, 'hierarchical:between=6.3,inside=3.6,digits=offset', machine)
  expect(messages.meanPerRank).toBe(messages.maxPerRank)
})

test('ranks of the same number on their nodes exchange first', () => {
  expect(statistics(grid, 'hierarchical:between=16,inside=16', machine)).toMatchObject({
    phases: 2,
    messages: { meanPerRank: 8, interNode: 256 * 4 },
    volumeBlocks: 256 * 24,
  })
})

test.each([
  ['routed:radices=2.2', /radices whose product is at least 256, the ranks, got 2.2, product 4/],
  ['allgather:radices=15.17', /product is at least 256/],
  ['hierarchical:between=3', /between whose product is at least 16, the nodes, got 3/],
  ['hierarchical:inside=3', /inside whose product is at least 16, the ranks of a node, got 3/],
  ['lanes:lanes=2,widths=8', /lanes or widths, got both/],
  ['lanes:radices=3.5', /radices whose product is at least 16/],
  ['cartesian:windows=5', /windows for 2 dimensions, got 1/],
  ['cartesian:windows=2.2/5', /windows whose product is at least 5, the offsets of dimension 0, got 2.2/],
  ['cartesian:order=0.0', /an order of 2 dimensions, got 0.0/],
  ['cartesian:windows=4294967296.2/5', /windows of at most 64 for 5, the offsets of dimension 0/],
  ['cartesian:windows=5/65', /windows of at most 64 for 5, the offsets of dimension 1, got 65/],
  ['lanes:lanes=99', /lanes of at most 64 for 16, the ranks of a node, got 99/],
  ['lanes:radices=4294967296', /radices of at most 64 for 16/],
  ['routed:radices=257', /radices of at most 256 for 256, the ranks, got 257/],
  ['allgather:radices=2.2.2.2.2.2.2.2.300', /radices of at most 256/],
  ['hierarchical:between=70', /between of at most 64 for 16, the nodes, got 70/],
  ['pipelined:between=16,inside=2147483647.2', /inside of at most 64/],
])('%s is refused', (text, message) => {
  expect(() => plan(grid, parseStrategy(text), { machine })).toThrow(refusal('ERR_STRATEGY', message))
})

test.each([
  ['direct', { k: 4 }, /options among none, got 'k'/],
  ['routed', { radix: [2] }, /options among radices, first, got 'radix'/],
  ['lanes', { lane: 2 }, /options among radices, lanes, .*, got 'lane'/],
  ['common-neighbor', { k: 2, mode: 'agnostic', tau: 3 }, /got 'tau'/],
  ['cumulative', { k: 2, mode: 'agnostic', theta: 3 }, /got 'theta'/],
])('%s with %j, of which a member is unknown, is refused', (kind, members, message) => {
  expect(() => plan(grid, { kind, ...members } as never, { machine })).toThrow(
    refusal('ERR_STRATEGY', message),
  )
})

test('members that are undefined are as ones left out', () => {
  const strategy = { kind: 'routed', radices: undefined, radix: undefined } as never
  expect(plan(grid, strategy).schedule.strategy).toBe('routed')
})

test.each(['hierarchical', 'lanes'])('%s without nodes is refused', (text) => {
  const error = thrown(() => plan(grid, parseStrategy(text)))
  expect([error.code, error.message]).toEqual([
    'ERR_STRATEGY',
    `${text} needs the node of every rank: pass a machine`,
  ])
  expect(thrown(() => plan(grid, parseStrategy(text), { nodeOf: new Int32Array(3) })).code).toBe(
    'ERR_STRATEGY',
  )
})

test('cartesian without a grid is refused', () => {
  const star = topologyFromEdges(5, { sources: [0, 0, 1], destinations: [1, 2, 4] })
  expect(thrown(() => plan(star, { kind: 'cartesian' })).message).toMatch(
    /same offsets from every rank of a grid/,
  )
})

test.each([
  ['descending:ks=4.3.2,mode=agnostic', 4],
  ['descending:ks=3.2,mode=aware', 3],
  ['cumulative:k=2,mode=agnostic', 2],
  ['cumulative:k=3,mode=aware', 3],
])('%s sends fewer messages than groups of one size', (text, k) => {
  const mode = text.slice(text.indexOf('mode='))
  const topology = mooreTopology({ dims: [8, 8], radius: 3 })
  const nodes = cluster({ nodes: 4, cores: 16 })
  const combined = statistics(topology, `common-neighbor:k=${k},${mode}`, nodes).messages.planned
  expect(statistics(topology, text, nodes).messages.planned).toBeLessThanOrEqual(combined)
})

test.each([
  ['descending:ks=4.1,mode=aware', /ks, integers >= 2/],
  ['cumulative:k=1', /k, an integer from 2 to 1048576/],
  ['descending:mode=aware', /pass a machine/],
])('%s is refused', (text, message) => {
  const error = thrown(() => plan(grid, parseStrategy(text)))
  expect([error.code, message.test(error.message)]).toEqual(['ERR_STRATEGY', true])
})
