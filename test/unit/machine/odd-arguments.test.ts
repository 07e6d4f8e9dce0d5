import { expect, test } from 'vitest'
import { clos } from '../../../src/machine/clos.js'
import { formatMachine } from '../../../src/machine/format-machine.js'
import { cluster, nodeOf, packageOf } from '../../../src/machine/machine.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { torus } from '../../../src/machine/torus.js'
import { clusterOf } from '../../support/cluster-of.js'
import { badRefusals } from '../../support/odd-values.js'

const machine = cluster({ nodes: 2, cores: 2 })

test.each<[string, (odd: never) => unknown]>([
  ['parseMachine of no text', (odd) => parseMachine(odd)],
  ['parseMachine with options', (odd) => parseMachine('cluster:nodes=2,cores=2,profile=x', odd)],
  ['parseMachine with profiles', (odd) => parseMachine('cluster:nodes=2,cores=2', { profiles: odd })],
  ['formatMachine', (odd) => formatMachine(odd)],
  ['nodeOf', (odd) => nodeOf(odd, 2)],
  ['nodeOf ranks', (odd) => nodeOf(machine, odd)],
  ['packageOf', (odd) => packageOf(odd, 2)],
  ['cluster', (odd) => cluster(odd)],
  ['cluster nodes', (odd) => cluster({ nodes: odd, cores: 2 })],
  ['cluster cores', (odd) => cluster({ nodes: 2, cores: odd })],
  ['cluster packages', (odd) => cluster({ nodes: 2, cores: 2, packages: odd })],
  ['clusterOf', (odd) => clusterOf(odd)],
  ['clusterOf cores', (odd) => clusterOf([2, odd])],
  ['torus', (odd) => torus(odd)],
  ['torus dims', (odd) => torus({ dims: odd })],
  ['torus extent', (odd) => torus({ dims: [2, odd] })],
  ['torus wraps', (odd) => torus({ dims: [2], wraps: odd })],
  ['torus wrap', (odd) => torus({ dims: [2], wraps: [odd] })],
  ['torus cores', (odd) => torus({ dims: [2], cores: odd })],
  ['clos', (odd) => clos(odd)],
  ['clos radix', (odd) => clos({ radix: odd, levels: 2 })],
  ['clos levels', (odd) => clos({ radix: 4, levels: odd })],
  ['clos leaves', (odd) => clos({ radix: 4, levels: 2, nodesPerLeaf: odd })],
  ['clos nodes', (odd) => clos({ radix: 4, levels: 2, nodes: odd })],
  ['clos cores', (odd) => clos({ radix: 4, levels: 2, cores: odd })],
])('%s: what is refused is refused with a code, in a short message', (_, call) => {
  expect(badRefusals(call)).toEqual([])
})

test('what only looks like a number, or like a dimension that wraps, is refused', () => {
  const refused = { code: 'ERR_MACHINE' }
  expect(() => cluster({ nodes: 2, cores: true as never })).toThrowError(expect.objectContaining(refused))
  expect(() => torus({ dims: [2], wraps: ['no' as never] })).toThrowError(expect.objectContaining(refused))
  expect(() => clusterOf({ length: 2 ** 40 })).toThrowError(expect.objectContaining(refused))
})
