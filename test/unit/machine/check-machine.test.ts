import { builtInProfiles, checkMachine, clos, cluster, type Machine, torus } from 'rankweave/machine'
import { describe, expect, test } from 'vitest'
import { simgridFast } from '../../../src/machine/built-in-profiles.js'
import { clusterOf } from '../../support/cluster-of.js'
import { refusal } from '../../support/refusal.js'

const machines: Machine[] = [
  cluster({ nodes: 3, cores: 4, packages: 2, profile: simgridFast }),
  clusterOf([1, 3, 2]),
  torus({ dims: [2, 3], cores: 2 }),
  torus({ dims: [4], wraps: [false] }),
  clos({ radix: 4, levels: 2, nodes: 7 }),
  clos({ radix: 4, levels: 2, ports: 2 }),
  { ...cluster({ nodes: 2, cores: 1, ports: null }), ports: null },
  torus({ dims: [2], ports: 2 ** 16 }),
]

test.each(machines)('a machine and its structured clone pass: $kind', (machine) => {
  checkMachine(machine)
  const clone = structuredClone(machine)
  checkMachine(clone)
  expect(clone).toEqual(machine)
})

test.each(builtInProfiles)('the built-in profile $name passes', (profile) => {
  checkMachine(cluster({ nodes: 1, cores: 1, profile }))
})

describe('checkMachine rejects', () => {
  const [divided, uneven, grid, , tree] = machines
  const profiled = (change: object) => ({ ...divided, profile: { ...simgridFast, ...change } })
  test.each<[string, string, unknown]>([
    ['nothing', 'expected a machine', null],
    [
      'another kind',
      'expected a machine',
      { kind: 'ring', cores: new Int32Array(1), firstRank: new Int32Array(2) },
    ],
    [
      'an array of another type',
      'expected packageFirstRank to be an Int32Array',
      { ...uneven, packageFirstRank: [0, 1, 4, 6] },
    ],
    ['no port', 'expected 1 to 65536 ports per node, got 0', { ...uneven, ports: 0 }],
    ['a part of a port', 'expected 1 to 65536 ports per node, got 1.5', { ...grid, ports: 1.5 }],
    [
      'no nodes',
      'expected at least one node',
      { ...uneven, cores: new Int32Array(0), firstRank: new Int32Array(1) },
    ],
    [
      'a rank too few',
      'firstRank: expected 4 elements, got 3',
      { ...uneven, firstRank: Int32Array.of(0, 1, 4) },
    ],
    ['ranks that begin at 1', 'expected 0 first', { ...uneven, firstRank: Int32Array.of(1, 2, 5, 7) }],
    [
      'ranks that skip one',
      'firstRank[2]: expected 4, got 5',
      { ...uneven, firstRank: Int32Array.of(0, 1, 5, 6) },
    ],
    [
      'ranks of another number of cores',
      'firstRank[2]: expected 1, got 4',
      { ...uneven, cores: Int32Array.of(1, 0, 2) },
    ],
    [
      'a negative number of cores',
      'node 0: expected at least 0 cores, got -1',
      { ...uneven, cores: Int32Array.of(-1, 3, 2) },
    ],
    [
      'no cores',
      'expected at least one core, got none',
      {
        ...uneven,
        cores: Int32Array.of(0),
        firstRank: Int32Array.of(0, 0),
        packageFirstRank: Int32Array.of(0),
      },
    ],
    ['too many cores', 'expected at most 16777216 cores', { ...uneven, cores: Int32Array.of(2 ** 25, 3, 2) }],
    [
      'a package across nodes',
      'a package that ends with node 0, at rank 4',
      { ...divided, packageFirstRank: Int32Array.of(0, 2, 6, 8, 10, 12) },
    ],
    [
      'an empty package',
      'expected ascending ranks, got 2 after 2',
      { ...divided, packageFirstRank: Int32Array.of(0, 2, 2, 4, 6, 8, 10, 12) },
    ],
    [
      'too few packages',
      'expected ascending ranks, got undefined after 6',
      { ...divided, packageFirstRank: Int32Array.of(0, 2, 4, 6) },
    ],
    [
      'too many packages',
      'packageFirstRank: expected 7 elements, got 8',
      { ...divided, packageFirstRank: Int32Array.of(0, 2, 4, 6, 8, 10, 12, 14) },
    ],
    [
      'fewer nodes than the extents have',
      'expected 4 nodes for the extents, got 6',
      { ...grid, dims: [2, 2] },
    ],
    [
      'wraps of another number of dimensions',
      'expected to know of 2 dimensions whether they wrap, got 1',
      { ...grid, wraps: [true] },
    ],
    ['a part of a node', 'dimension 1: expected at least 1 node, got 1.5', { ...grid, dims: [4, 1.5] }],
    [
      'more nodes per leaf than the tree has ports',
      'expected 1 to 3 nodes per leaf switch of 4 ports, got 4',
      { ...tree, nodesPerLeaf: 4 },
    ],
    [
      'more nodes than the tree holds',
      'expected at most 4 nodes below this tree, got 7',
      { ...tree, nodesPerLeaf: 1 },
    ],
    ['a radix of 1', 'expected a radix from 2 to 65536, got 1', { ...tree, radix: 1 }],
    ['too many levels', 'expected 1 to 16 levels, got 17', { ...tree, levels: 17 }],
    ['an odd radix', 'expected an even radix', { ...tree, radix: 5, levels: 3 }],
    [
      'a single level that is not full',
      'expected 4 nodes per leaf switch where there is one level, got 2',
      { ...tree, levels: 1 },
    ],
    [
      'a name with a blank',
      "expected a profile named by at most 128 letters, digits and hyphens, got 'a b'",
      profiled({ name: 'a b' }),
    ],
    [
      'a negative limit',
      'eagerLimitBytes: expected a number of at least 0, got -1',
      profiled({ eagerLimitBytes: -1 }),
    ],
    [
      'a latency that is no number',
      'hop.latencyNs: expected a number of at least 0, got NaN',
      profiled({ hop: { latencyNs: Number.NaN, nsPerByte: 0 } }),
    ],
    [
      'a missing figure',
      'hop.nsPerByte: expected a number of at least 0, got undefined',
      profiled({ hop: { latencyNs: 0 } }),
    ],
    [
      'an exception of no figure',
      "expected a figure or the beginning of some, got 'levels.net'",
      profiled({ exceptions: { 'levels.net': simgridFast } }),
    ],
    [
      'an unknown provenance',
      "expected provenance given, measured, assumed, got 'known'",
      profiled({ provenance: 'known' }),
    ],
    ['no source', 'profile: expected a source, got none', profiled({ source: '' })],
  ])('%s', (_, message, machine) => {
    expect(() => checkMachine(machine as Machine)).toThrow(refusal('ERR_MACHINE', message))
  })
})

describe('torus and clos reject', () => {
  test.each<[string, string, () => Machine]>([
    ['no dimensions', 'expected 1 to 24 dimensions, got 0', () => torus({ dims: [] })],
    ['too many nodes of a torus', 'expected at most 16777216 nodes', () => torus({ dims: [1e5, 1e5] })],
    ['a ring with long routes', 'expected routes of at most 65536 links', () => torus({ dims: [2 ** 17] })],
    ['too many cores', 'expected at most 16777216 cores', () => torus({ dims: [4096], cores: 4097 })],
    [
      'a part of a node per leaf',
      'expected 1 to 3 nodes per leaf switch',
      () => clos({ radix: 4, levels: 2, nodesPerLeaf: 1.5 }),
    ],
    [
      'too many nodes of a tree',
      'expected at most 16777216 nodes, got 67108864',
      () => clos({ radix: 64, levels: 5, nodesPerLeaf: 32 }),
    ],
  ])('%s', (_, message, call) => {
    expect(call).toThrow(refusal('ERR_MACHINE', message))
  })
})
