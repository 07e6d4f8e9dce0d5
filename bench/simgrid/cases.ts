import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-size.js'
import type { Machine } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'

/** Schedules on one machine, one rank per core, with units of data of several lengths. */
export interface Comparison {
  readonly machine: string
  /** Neighborhood of the neighbor allgathers, one vertex per rank. */
  readonly topology: string
  readonly schedules: readonly string[]
  readonly bytes: readonly number[]
}

const kib = 1024
const allSchedules: readonly string[] = [
  ...['direct', 'common-neighbor'],
  ...['allgather-ring', 'allgather-bruck', 'allgather-recursive-doubling'],
  ...['bcast-binomial', 'allreduce-recursive-doubling'],
]
const profiles = ['simgrid-fast', 'simgrid-slow'] as const

/** Clusters of 16 cores per node. */
export const clusterComparisons: readonly Comparison[] = profiles.flatMap((profile) => [
  {
    machine: `cluster:nodes=4,cores=16,profile=${profile}`,
    topology: 'moore:8x8:r=2',
    schedules: allSchedules,
    bytes: [4, 4 * kib, 256 * kib],
  },
  {
    machine: `cluster:nodes=16,cores=16,profile=${profile}`,
    topology: 'moore:16x16:r=2',
    schedules: allSchedules,
    bytes: [4, 4 * kib],
  },
])

/**
 * Networks whose inner links messages share: a torus, and a Clos network with 4 ports down for each port up.
 */
export const networkComparisons: readonly Comparison[] = [
  'torus:dims=4x4x4',
  'clos:radix=10,levels=2,taper=4,nodes=64',
].flatMap((network) => [
  {
    machine: `${network},profile=simgrid-fast`,
    topology: 'moore:8x8:r=2',
    schedules: ['direct', 'allgather-ring', 'allgather-bruck', 'allgather-recursive-doubling'],
    bytes: [4 * kib, 256 * kib],
  },
  {
    machine: `${network},cores=4,profile=simgrid-fast`,
    topology: 'moore:16x16:r=2',
    schedules: ['direct', 'common-neighbor', 'allgather-bruck', 'allgather-recursive-doubling'],
    bytes: [4 * kib],
  },
])

/** Of `--quick`. */
export const quickComparisons = {
  clusters: [
    {
      ...clusterComparisons[0],
      schedules: ['direct', 'common-neighbor', 'allgather-bruck', 'bcast-binomial'],
      bytes: [4, 4 * kib],
    },
  ],
  networks: networkComparisons
    .filter(({ machine }) => !machine.includes('cores'))
    .map((each) => ({ ...each, schedules: ['direct', 'allgather-bruck'], bytes: [4 * kib] })),
}

/** The machine of a comparison and its schedules in order. */
export function prepare({ machine: line, topology, schedules }: Comparison): {
  readonly machine: Machine
  readonly schedules: readonly Schedule[]
} {
  const machine = parseMachine(line)
  const ranks = machine.firstRank[machine.cores.length]
  const neighborhood = buildTopology(topology)
  return {
    machine,
    schedules: schedules.map((name) => {
      if (name === 'direct') return plan(neighborhood, { kind: 'direct' }).schedule
      if (name !== 'common-neighbor') return scheduleOf(algorithmOf(name), { ranks })
      return plan(neighborhood, { kind: 'common-neighbor', k: 4, mode: 'aware' }, { machine }).schedule
    }),
  }
}
