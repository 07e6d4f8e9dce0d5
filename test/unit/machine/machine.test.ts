import { describe, expect, test } from 'vitest'
import { cluster, levelOf, nodeOf, packageOf } from '../../../src/machine/machine.js'
import { clusterOf } from '../../support/cluster-of.js'
import { refusal } from '../../support/refusal.js'

describe('cluster', () => {
  test('places ranks in consecutive blocks', () => {
    const machine = cluster({ nodes: 3, cores: 2 })
    expect(machine).toEqual({
      ...{ kind: 'cluster', cores: Int32Array.of(2, 2, 2), firstRank: Int32Array.of(0, 2, 4, 6) },
      ...{ packageFirstRank: Int32Array.of(0, 2, 4, 6), profile: null },
    })
    expect([...nodeOf(machine, 6)]).toEqual([0, 0, 1, 1, 2, 2])
    expect([...nodeOf(machine, 3)]).toEqual([0, 0, 1])
  })

  test('4096 ranks on nodes of 40 cores fill 102 nodes, and 16 cores of the last', () => {
    const nodes = nodeOf(cluster({ nodes: 103, cores: 40 }), 4096)
    expect(nodes.every((node, rank) => node === Math.floor(rank / 40))).toBe(true)
    expect(nodes.filter((node) => node === 102)).toHaveLength(16)
  })

  test('nodes may differ in cores', () => {
    expect([...nodeOf(clusterOf([1, 3, 2]), 6)]).toEqual([0, 1, 1, 1, 2, 2])
  })

  test('packages are counted over all nodes, and tell how far apart two ranks are', () => {
    const machine = cluster({ nodes: 2, cores: 4, packages: 2 })
    expect([...machine.packageFirstRank]).toEqual([0, 2, 4, 6, 8])
    expect([...packageOf(machine, 7)]).toEqual([0, 0, 1, 1, 2, 2, 3])
    expect([0, 1, 2, 3, 4, 7].map((rank) => levelOf(machine, 1, rank))).toEqual([
      ...['package', 'process', 'node', 'node', 'network', 'network'],
    ])
  })

  test.each([
    [
      () => cluster({ nodes: 2, cores: 5, packages: 2 }),
      'expected a number of cores that 2 packages divide, got 5',
    ],
    [() => cluster({ nodes: 2, cores: 4, packages: 0 }), 'expected 1 to 1024 packages per node, got 0'],
    [() => cluster({ nodes: 0, cores: 1 }), 'expected at least one node, got none'],
    [() => cluster({ nodes: 1.5, cores: 1 }), 'got 1.5'],
    [() => cluster({ nodes: 1e9, cores: 1 }), 'got 1000000000'],
    [() => cluster({ nodes: 2, cores: 0 }), 'expected at least 1 core per node, got 0'],
    [() => cluster({ nodes: 1e6, cores: 1e6 }), 'expected at most 16777216 cores in all'],
    [() => clusterOf([]), 'expected at least one node, got none'],
    [() => clusterOf([4, 2.5]), 'node 1: expected at least 1 core, got 2.5'],
    [() => nodeOf(cluster({ nodes: 2, cores: 3 }), 1.5), 'expected an integer of ranks, got 1.5'],
    [() => nodeOf(cluster({ nodes: 2, cores: 3 }), 7), 'expected at least 7 cores for 7 ranks, got 6'],
  ])('rejects %s', (call, message) => {
    expect(call).toThrow(refusal('ERR_MACHINE', message))
  })
})
