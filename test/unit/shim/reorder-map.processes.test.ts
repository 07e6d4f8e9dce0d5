import { execFileSync } from 'node:child_process'
import { beforeAll, expect, it } from 'vitest'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'
import { mapTopology } from '../../../src/topology/mapping/map-topology.js'
import { PlacedPairs } from '../../../src/topology/mapping/placed-pairs.js'
import { distinctIn, distinctOut } from '../../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../../src/topology/process-topology.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileLinked, compileShim } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** Pairs of a vertex and another node. */
function pairsOf(topology: ProcessTopology, nodeOf: Int32Array): number {
  return new PlacedPairs(distinctOut(topology), distinctIn(topology), nodeOf).cost
}

describeEitherMpi('the mapping of the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('mapped')
  let program: string

  beforeAll(() => {
    if (mpicc === null) return
    compileShim(folder(), mpicc)
    program = compileLinked(folder(), mpicc, 'mapped')
  })

  function mapped(topology: ProcessTopology, nodeOfSlot: Int32Array, dims: readonly number[]) {
    const edges: number[] = []
    for (let v = 0; v < topology.ranks; v++)
      for (const to of topology.outRank.subarray(topology.outStart[v], topology.outStart[v + 1]))
        edges.push(v, to)
    const nodes = Math.max(...nodeOfSlot) + 1
    const numbers = [topology.ranks, nodes, ...nodeOfSlot, dims.length, ...dims, edges.length / 2, ...edges]
    const output = execFileSync(program, { input: numbers.join(' '), encoding: 'utf8' })
    const [before, after, ...slotOf] = output.trim().split(/\s+/).map(Number)
    return { before, after, slotOf }
  }

  const consecutive = (cores: number) => (slot: number) => Math.floor(slot / cores)
  const uneven = (slot: number) => Math.floor(Math.sqrt(slot))

  it.skipIf(mpicc === null).each([
    ['moore:16x16:r=1', consecutive(16), []],
    ['moore:16x16:r=2', consecutive(16), [16, 16]],
    ['moore:16x16:r=1', (slot: number) => slot % 8, [16, 16]],
    ['moore:6x5x4:r=1', uneven, [6, 5, 4]],
    ['er:100:d=0.1:seed=3', uneven, []],
    ['er:60:d=0.02:seed=3', consecutive(7), []],
    ['powerlaw:256:d=4:gamma=2.3:seed=1', consecutive(16), []],
    ['er:16:d=1', consecutive(4), []],
    ['er:9:d=0', consecutive(4), []],
  ])('is a permutation that is never worse, counted right: %s', (spec, nodeOf, dims) => {
    const topology = buildTopology(spec)
    const nodeOfSlot = Int32Array.from({ length: topology.ranks }, (_, slot) => nodeOf(slot))
    const { before, after, slotOf } = mapped(topology, nodeOfSlot, dims)
    expect(slotOf.toSorted((a, b) => a - b)).toEqual(Array.from(slotOf.keys()))
    expect(before).toBe(pairsOf(topology, nodeOfSlot.slice()))
    expect(after).toBe(
      pairsOf(
        topology,
        Int32Array.from(slotOf, (slot) => nodeOfSlot[slot]),
      ),
    )
    expect(after).toBeLessThanOrEqual(before)
    expect(mapped(topology, nodeOfSlot, dims)).toEqual({ before, after, slotOf })
    // Recursive bisection and more steps are worth some percent.
    expect(after).toBeLessThanOrEqual(1.25 * mapTopology(topology, { nodeOfSlot, mostWork: 4e7 }).cost)
  })
})
