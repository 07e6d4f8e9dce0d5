import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { graphLines } from '../../src/shim/recorded-graphs.js'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { mappingText } from '../../src/topology/mapping/mapping-file.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import type { Ended } from './mpi.js'

/** How the program of shim/reorder.c makes its topology. */
export const reorderedKinds = ['adjacent', 'lists', 'grid', 'child'] as const
export type ReorderedKind = (typeof reorderedKinds)[number]

/** The slot of every vertex, as the program prints it once each rank has found the neighbors of its vertex. */
export function printedSlots(ended: Ended, stderr: unknown = ''): number[] {
  expect(ended).toEqual({ code: 0, stdout: expect.stringMatching(/^0 wrong\n/), stderr })
  return ended.stdout.split('\n')[1].split(' ').map(Number)
}

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
  return path
}
