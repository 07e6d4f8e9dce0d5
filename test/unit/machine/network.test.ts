import { clos, cluster, linkName, type Machine, networkOf, routeBetween, torus } from 'rankweave/machine'
import { expect, test } from 'vitest'
import { simgridFast } from '../../../src/machine/built-in-profiles.js'
import { refusal } from '../../support/refusal.js'
import { thrown } from '../topology/thrown.js'

test('a cluster has two links per node, which share the latency of a route', () => {
  const network = networkOf(cluster({ nodes: 3, cores: 4, profile: simgridFast }))
  expect(network).toMatchObject({ nodes: 3, longestRoute: 2 })
  expect([...network.latencyNs]).toEqual([300, 300, 300, 300, 300, 300])
  expect([...network.nsPerByte]).toEqual([0.08, 0.08, 0.08, 0.08, 0.08, 0.08])
  const links = new Int32Array(2)
  expect(network.route(2, 0, links)).toBe(2)
  expect([...links]).toEqual([4, 1])
})

test.each<[Machine, number, number]>([
  [torus({ dims: [4, 3], cores: 2, profile: simgridFast }), 24 + 2 * 24, 2 + 2 + 1],
  [clos({ radix: 4, levels: 2, nodes: 5, profile: simgridFast }), 10 + 2 * 3 * 2, 4],
])('links between routers or switches come after those of nodes: %#', (machine, count, longest) => {
  const network = networkOf(machine)
  const nodes = machine.cores.length
  expect(network.longestRoute).toBe(longest)
  expect([...network.latencyNs]).toEqual(Array.from({ length: count }, (_, i) => (i < 2 * nodes ? 300 : 100)))
  expect(network.nsPerByte).toHaveLength(count)
  const links = new Int32Array(longest)
  for (let from = 0; from < nodes; from++) {
    for (let to = 0; to < nodes; to++) {
      if (from === to) continue
      const route = links.subarray(0, network.route(from, to, links))
      expect(routeBetween(machine, from, to)).toEqual(route)
      expect([route[0], route.at(-1)]).toEqual([2 * from, 2 * to + 1])
      expect(route.subarray(1, -1).every((link) => link >= 2 * nodes && link < count)).toBe(true)
    }
  }
})

test('a node has no route to itself, and no route to nodes that do not exist', () => {
  const machine = torus({ dims: [3] })
  expect(routeBetween(machine, 1, 1)).toHaveLength(0)
  for (const node of [-1, 3, 0.5]) {
    expect(() => routeBetween(machine, 0, node)).toThrow(
      refusal('ERR_MACHINE', `expected a node from 0 to 2, got ${node}`),
    )
  }
})

test('links have names', () => {
  const machine = torus({ dims: [3] })
  expect([0, 5, 6, 11].map((link) => linkName(machine, link))).toEqual([
    'node 0 -> network',
    'network -> node 2',
    'router 0 -> router 1',
    'router 0 -> router 2',
  ])
  expect(thrown(() => linkName(machine, 12)).message).toContain('expected a link from 0 to 11, got 12')
})

test('a machine without a profile has no network', () => {
  expect(() => networkOf(cluster({ nodes: 3, cores: 4 }))).toThrow(
    refusal('ERR_MACHINE', 'expected a machine with a profile'),
  )
})

test('a network has at most 2^24 links, which is checked before they are allocated', () => {
  expect(() => networkOf(cluster({ nodes: 2 ** 23 + 1, cores: 1, profile: simgridFast }))).toThrow(
    refusal('ERR_MACHINE', 'expected at most 16777216 links, got 16777218'),
  )
})

test('routes and names of links are refused beyond the most links, as networks are', () => {
  const machine = clos({ radix: 1024, levels: 4, nodesPerLeaf: 1, nodes: 524_288 })
  expect(thrown(() => routeBetween(machine, 0, 524_287)).message).toContain('links')
  expect(thrown(() => linkName(machine, 0)).message).toContain('links')
})
