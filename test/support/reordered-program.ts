import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { packedEnding, packedMapping } from '../../src/shim/packed-files.js'
import { graphLines } from '../../src/shim/recorded-graphs.js'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { mappingText } from '../../src/topology/mapping/mapping-file.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { edgesDigest } from '../../src/topology/topology-hash.js'
import type { Ended } from './mpi.js'

/** How the program of shim/reorder.c makes its topology. */
export const reorderedKinds = ['adjacent', 'lists', 'grid', 'child'] as const
export type ReorderedKind = (typeof reorderedKinds)[number]

/** The slots of every vertex that each case prints, once each rank has found the neighbors of its vertex. */
export function printedSlots(ended: Ended, cases: readonly string[], stderr: unknown = ''): number[][] {
  const lines = ended.stdout.trimEnd().split('\n')
  expect({ ...ended, stdout: lines.filter((_, i) => i % 2 === 1) }).toEqual({
    ...{ code: 0, stdout: cases.map((text) => `${text}: right`), stderr },
  })
  return lines.filter((_, i) => i % 2 === 0).map((line) => line.split(' ').map(Number))
}

/** A permutation of the vertices of a topology with 5, 7 or other ranks that 5 does not divide. */
export const shifted = ({ ranks }: ProcessTopology): number[] =>
  Array.from({ length: ranks }, (_, v) => (v * (ranks % 5 === 0 ? 3 : 5) + 1) % ranks)

/** The graph that the program recorded at `path`. @param ranks processes of the job */
export function recordedGraph(path: string, kind: ReorderedKind, ranks: number): ProcessTopology {
  // Rank 0 of that communicator is the last process.
  const file = kind === 'child' ? `${path}.${ranks - 1}.0` : path
  return parseEdgeList(graphLines(readFileSync(file, 'utf8')))
}

/** Writes a mapping file as `rankweave map` does; returns its path. */
export function writeSlots(path: string, topology: ProcessTopology, slotOf: ArrayLike<number>): string {
  const mapping = { slotOf: Int32Array.from(slotOf), cost: 0, identityCost: 0 }
  writeFileSync(path, [...mappingText(topology, mapping, 'pairs')].join(''))
  writeFileSync(`${path}${packedEnding}`, packedMapping(edgesDigest(topology), mapping.slotOf))
  return path
}
