import { algorithmOf } from '../../src/collective/algorithms.js'
import type { Algorithm } from '../../src/collective/patterns/algorithm.js'
import type { ParticipantGrid } from '../../src/collective/patterns/participant-grid.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import type { Machine } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { profileOf } from '../../src/machine/network.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import type { LoweredSchedule } from '../../src/schedule/lower/program.js'
import { rootedCollectives, upTo } from '../../src/schedule/specification.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'

/** Schedules on one machine, one rank per core, with units of data of several lengths. */
export interface Comparison {
  readonly machine: string
  /** Neighborhood of the neighbor allgathers, one vertex per rank. */
  readonly topology?: string
  /** Default: the cores of the machine. */
  readonly ranks?: number
  /** Where the ranks are, for the algorithms that ask. Default: in a line. */
  readonly grid?: ParticipantGrid
  /** Of rooted collectives. Default: 0. */
  readonly root?: number
  /** Process of every rank. Default: that of its number. */
  readonly placement?: Int32Array
  /** Whether copies take no time. */
  readonly copiesAreFree?: true
  /** What the names of the cases say of the last two. */
  readonly note?: string
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

/** Messages of blocks that lie side by side in the buffers of both ends, and of blocks that lie apart. */
export const blockComparisons: readonly Comparison[] = [
  'cluster:nodes=4,cores=16,profile=simgrid-fast',
  'clos:radix=10,levels=2,taper=4,nodes=64,profile=simgrid-fast',
].map((machine) => ({
  machine,
  root: 5,
  schedules: [
    ...['allgather-ring', 'allgather-recursive-doubling', 'scatter-binomial'],
    ...['allgather-bruck', 'allgather-distance-halving', 'alltoall-bruck'],
  ],
  bytes: [kib, 16 * kib],
}))

const farRanks = 128
const tapered = {
  machine: 'clos:radix=40,levels=2,taper=4,nodes=1024,profile=simgrid-fast',
  ranks: farRanks,
  bytes: [16 * kib],
}

/**
 * An allgather by exchanges with the farthest node first, on 128 nodes: with copies, without them, and by ranks
 * that are placed so that blocks lie side by side.
 */
export const farthestFirstComparisons: readonly Comparison[] = [
  { ...tapered, schedules: ['allgather-distance-halving', 'allgather-ring'] },
  {
    ...tapered,
    copiesAreFree: true,
    note: 'copies free',
    schedules: ['allgather-distance-halving'],
  },
  {
    ...tapered,
    placement: reversedBits(farRanks),
    note: 'ranks placed by their bits in reverse',
    schedules: ['allgather-recursive-doubling'],
  },
]

/**
 * Algorithms along the dimensions of a network beside those that do not know it: on a torus of powers of two, in a
 * reduction on another one, and on that Clos network.
 */
export const dimensionComparisons: readonly Comparison[] = [
  {
    ...wrapped([4, 4, 4]),
    schedules: [
      ...['allgather-recursive-doubling', 'allgather-reordered:shuffle=1', 'allgather-bucket'],
      ...['allgather-bucket:ports=3,shuffle=1', 'allgather-bucket:ports=6,shuffle=1'],
    ],
  },
  {
    ...wrapped([3, 5, 4]),
    schedules: [
      ...['reduce-scatter-ring', 'reduce-scatter-reordered:shuffle=1'],
      'reduce-scatter-bucket:ports=6,shuffle=1',
    ],
  },
  {
    machine: 'clos:radix=10,levels=2,taper=4,nodes=64,profile=simgrid-fast',
    schedules: [
      ...['allgather-recursive-doubling', 'allgather-reordered:order=halving'],
      ...['allgather-reordered:shuffle=1', 'allgather-ring'],
    ],
  },
].map((each) => ({ ...each, bytes: [4 * kib, 256 * kib] }))

/** A torus of one rank per node. */
function wrapped(dims: readonly number[]): Pick<Comparison, 'machine' | 'grid'> {
  return {
    machine: `torus:dims=${dims.join('x')},profile=simgrid-fast`,
    grid: { dims, wraps: dims.map(() => true) },
  }
}

/** Of a power of two. */
function reversedBits(count: number): Int32Array {
  const bits = Math.log2(count)
  return Int32Array.from({ length: count }, (_, number) => {
    let reversed = 0
    for (let bit = 0; bit < bits; bit++) reversed |= ((number >> bit) & 1) << (bits - 1 - bit)
    return reversed
  })
}

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

/** The machine of a comparison and its schedules in order, one rank per process. */
export function prepare(comparison: Comparison): {
  readonly machine: Machine
  readonly schedules: readonly LoweredSchedule[]
} {
  const { machine: line, topology, grid, root = 0, copiesAreFree = false, schedules } = comparison
  const machine = copiesAreFree ? withFreeCopies(parseMachine(line)) : parseMachine(line)
  const { ranks = machine.firstRank[machine.cores.length] } = comparison
  const { placement = upTo(ranks) } = comparison
  const scheduleNamed = (name: string): Schedule => {
    if (topology !== undefined) {
      const neighborhood = buildTopology(topology)
      if (name === 'direct') return plan(neighborhood, { kind: 'direct' }).schedule
      if (name === 'common-neighbor')
        return plan(neighborhood, { kind: 'common-neighbor', k: 4, mode: 'aware' }, { machine }).schedule
    }
    const algorithm = algorithmOf(name)
    return scheduleOf(algorithm, {
      ...{ ranks, segments: algorithm.sections ?? 1 },
      ...(isRooted(algorithm) ? { root } : {}),
      ...(grid === undefined ? {} : { grid }),
    })
  }
  return { machine, schedules: schedules.map((name) => lower(scheduleNamed(name), placement)) }
}

function withFreeCopies(machine: Machine): Machine {
  const profile = profileOf(machine)
  const memory = { ...profile.memory, copyNsPerByte: 0, copyBlockNs: 0 }
  return { ...machine, profile: { ...profile, memory } }
}

const isRooted = ({ collective }: Algorithm): boolean => rootedCollectives.includes(collective)
