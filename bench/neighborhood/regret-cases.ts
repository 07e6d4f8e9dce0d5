import { readFileSync } from 'node:fs'
import type { Machine } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { parseMatrixMarket } from '../../src/topology/files/matrix-market.js'
import { topologyFromMatrix } from '../../src/topology/files/sparse-matrix.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'

/** One topology on one machine, with blocks of one length. */
export interface RegretCase {
  readonly topology: string
  readonly ranks: number
  readonly machine: string
  readonly bytes: number
}

const kib = 1024

/** By ranks: topologies, and how many nodes of how many cores host them. */
const sizes = [
  {
    ranks: 64,
    layout: { nodes: 4, cores: 16, torus: 'torus:dims=4x4,cores=4' },
    topologies: ['moore:8x8:r=1', 'moore:4x4x4:r=1', 'er:64:d=0.2:seed=2', 'rgg:64:r=0.3:seed=1'],
  },
  {
    ranks: 256,
    layout: { nodes: 16, cores: 16, torus: 'torus:dims=4x4x4,cores=4' },
    topologies: ['moore:16x16:r=3', 'er:256:d=0.1:seed=2', 'rgg:256:r=0.2:seed=1', 'dwt_193'],
  },
  {
    ranks: 1024,
    layout: { nodes: 64, cores: 16, torus: 'torus:dims=4x4x4,cores=16' },
    topologies: ['moore:32x32:r=2', 'powerlaw:1024:d=16:gamma=2.5:seed=1'],
  },
] as const

const matrices: Readonly<Record<string, string>> = { dwt_193: 'dwt_193.mtx' }

/** 60: every topology on three networks, 4 B and a longer block on each. */
export const regretCases: readonly RegretCase[] = sizes.flatMap(({ ranks, layout, topologies }) =>
  topologies.flatMap((topology, i) =>
    machinesOf(layout).flatMap((machine, m) =>
      [4, [256, 4 * kib, 16 * kib][(i + m) % 3]].map((bytes) => ({ topology, ranks, machine, bytes })),
    ),
  ),
)

function machinesOf({
  nodes,
  cores,
  torus,
}: {
  readonly nodes: number
  readonly cores: number
  readonly torus: string
}): readonly string[] {
  const cluster = `cluster:nodes=${nodes},cores=${cores}`
  return [
    `${cluster},profile=simgrid-fast`,
    `${cluster},profile=simgrid-slow`,
    `${torus},profile=simgrid-fast`,
  ]
}

export function topologyOf({ topology, ranks }: RegretCase): ProcessTopology {
  const file = matrices[topology]
  if (file === undefined) return buildTopology(topology)
  const path = new URL(`../../test/matrices/${file}`, import.meta.url)
  const matrix = parseMatrixMarket(readFileSync(path, 'utf8'), file)
  return topologyFromMatrix(matrix, { ranks: Math.min(ranks, matrix.rows) })
}

export function machineOf({ machine }: RegretCase): Machine {
  return parseMachine(machine)
}
