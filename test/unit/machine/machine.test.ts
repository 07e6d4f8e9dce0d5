import { describe, expect, test } from 'vitest'
import { cluster, clusterOf, formatMachine, nodeOf, parseMachine } from '../../../src/machine/machine.js'
import { thrown } from '../topology/thrown.js'

describe('cluster', () => {
  test('places ranks in consecutive blocks', () => {
    const machine = cluster({ nodes: 3, cores: 2 })
    expect(machine).toEqual({
      kind: 'cluster',
      cores: Int32Array.of(2, 2, 2),
      firstRank: Int32Array.of(0, 2, 4, 6),
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

  test.each([
    [() => cluster({ nodes: 0, cores: 1 }), 'expected 1 to 16777216 nodes, got 0'],
    [() => cluster({ nodes: 1.5, cores: 1 }), 'got 1.5'],
    [() => cluster({ nodes: 1e9, cores: 1 }), 'got 1000000000'],
    [() => cluster({ nodes: 2, cores: 0 }), 'node 0: expected at least 1 core, got 0'],
    [() => cluster({ nodes: 1e6, cores: 1e6 }), 'expected at most 16777216 cores in all'],
    [() => clusterOf([]), 'expected at least one node, got none'],
    [() => clusterOf([4, 2.5]), 'node 1: expected at least 1 core, got 2.5'],
    [() => nodeOf(cluster({ nodes: 2, cores: 3 }), 1.5), 'expected an integer of ranks, got 1.5'],
    [() => nodeOf(cluster({ nodes: 2, cores: 3 }), 7), 'expected at least 7 cores for 7 ranks, got 6'],
  ])('rejects %s', (call, message) => {
    const error = thrown(call)
    expect(error.code).toBe('ERR_MACHINE')
    expect(error.message).toContain(message)
  })
})

describe('parseMachine reads, formatMachine writes', () => {
  test.each([
    ['cluster:nodes=103,cores=40', 'cluster:nodes=103,cores=40'],
    ['cluster:cores=40+40+16', 'cluster:cores=2x40+16'],
    ['cluster:cores=102x40+16', 'cluster:cores=102x40+16'],
    ['cluster:cores=8', 'cluster:nodes=1,cores=8'],
    ['cluster:cores=2x8+3x8', 'cluster:nodes=5,cores=8'],
    ['cluster:cores=8+4+8', 'cluster:cores=8+4+8'],
  ])('%s is written as %s', (text, canonical) => {
    const machine = parseMachine(text)
    expect(formatMachine(machine)).toBe(canonical)
    expect(parseMachine(canonical)).toEqual(machine)
  })

  test.each([
    ['', "character 1: expected 'cluster:', got the end"],
    ['torus:4x4', "character 1: expected 'cluster:', got 'torus:4x4'"],
    ['cluster:nodes=3', "character 9: expected 'nodes=N,cores=C'"],
    ['cluster:nodes=3,cores=x', "got 'nodes=3,cores=x'"],
    ['cluster:cores=', 'character 15: expected a number of cores'],
    ['cluster:cores=4+', 'character 17: expected a number of cores'],
    ['cluster:cores=4+4x+4', "character 17: expected a number of cores such as '40', or nodes and cores"],
    ['cluster:cores=99999999x1', 'character 15: expected at most 16777216 nodes'],
    ['cluster:cores=4+0', 'node 1: expected at least 1 core, got 0'],
    ['cluster:cores=0x4', 'expected at least one node, got none'],
  ])("rejects '%s'", (text, message) => {
    const error = thrown(() => parseMachine(text))
    expect(error.code).toBe('ERR_MACHINE')
    expect(error.message).toContain(message)
  })
})
