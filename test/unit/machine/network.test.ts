import { expect, test } from 'vitest'
import { cluster } from '../../../src/machine/machine.js'
import { networkOf } from '../../../src/machine/network.js'
import { simgridFast } from '../../../src/machine/simgrid-profiles.js'
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

test('a machine without a profile has no network', () => {
  const error = thrown(() => networkOf(cluster({ nodes: 3, cores: 4 })))
  expect(error).toMatchObject({ code: 'ERR_MACHINE' })
  expect(error.message).toContain('expected a machine with a profile')
})

test('a network has at most 2^24 links, which is checked before they are allocated', () => {
  const error = thrown(() => networkOf(cluster({ nodes: 2 ** 23 + 1, cores: 1, profile: simgridFast })))
  expect(error).toMatchObject({ code: 'ERR_MACHINE' })
  expect(error.message).toContain('expected at most 16777216 links, got 16777218')
})
