import { topologyHash } from '../../topology/topology-hash.js'
import type { Parameters, Schedule } from '../ir.js'
import type { Collective } from '../specification.js'
import type { FormatVersion } from './format-version.js'

/** The format name in every header (docs/schedule-format.md). */
export const formatName = 'rankweave-schedule'

/** The first line of a file. */
export type ScheduleFileHeader = HeaderVersion1 | Header

interface AnyHeader {
  readonly format: typeof formatName
  readonly version: FormatVersion
  readonly strategy: string
  readonly parameters: Parameters
  readonly ranks: number
  readonly phases: number
  /** The ranks of a slice, ascending; null for a whole schedule. */
  readonly slice: readonly number[] | null
}

export interface HeaderVersion1 extends AnyHeader, Omit<TopologyFacts, 'hash'> {
  readonly version: 1
  readonly collective: 'neighbor-allgather'
  readonly topologyHash: string
}

/** The header of version 2, and of version 3, in which operations may wait. */
export interface Header extends AnyHeader {
  readonly version: 2 | 3
  readonly collective: Collective
  /** The number of ranks in each run of consecutive ranks, and the number of parts that each of them contributes. */
  readonly parts: readonly (readonly [ranks: number, parts: number])[]
  readonly idempotent: boolean
  readonly topology: TopologyFacts | null
}

/** The facts of a topology that the rank lines do not state. */
export interface TopologyFacts {
  readonly hash: string
  readonly pairing: 'occurrence' | 'cartesian'
  readonly cart: { readonly dims: readonly number[]; readonly periods: readonly boolean[] } | null
}

export function headerOf(schedule: Schedule, version: FormatVersion): ScheduleFileHeader {
  const { specification, strategy, parameters, phases } = schedule
  const { collective, partStart, ranks, reductions } = specification
  const topology = topologyFacts(schedule)
  if (version === 1) {
    const { hash, pairing, cart } = topology!
    return {
      format: formatName,
      version,
      collective: 'neighbor-allgather',
      strategy,
      parameters,
      ranks,
      phases,
      topologyHash: hash,
      pairing,
      cart,
      slice: null,
    }
  }
  return {
    format: formatName,
    version,
    collective,
    strategy,
    parameters,
    ranks,
    phases,
    parts: runsOfParts(partStart),
    idempotent: reductions.isIdempotent,
    topology,
    slice: null,
  }
}

function topologyFacts({ topology }: Schedule): TopologyFacts | null {
  if (topology === null) return null
  const { cart, pairing } = topology
  return {
    hash: topologyHash(topology),
    pairing,
    cart: cart === null ? null : { dims: [...cart.dims], periods: [...cart.periods] },
  }
}

/** Returns the topology's facts in a header of any version; null if the schedule has no topology. */
export function topologyFactsIn(header: ScheduleFileHeader): TopologyFacts | null {
  if (header.version !== 1) return header.topology
  return { hash: header.topologyHash, pairing: header.pairing, cart: header.cart }
}

function runsOfParts(partStart: Int32Array): [ranks: number, parts: number][] {
  const runs: [ranks: number, parts: number][] = []
  for (let rank = 0; rank + 1 < partStart.length; rank++) {
    const parts = partStart[rank + 1] - partStart[rank]
    const last = runs[runs.length - 1]
    if (last?.[1] === parts) last[0]++
    else runs.push([1, parts])
  }
  return runs
}

export function blocksIn(header: ScheduleFileHeader): number {
  if (header.version === 1) return header.ranks
  return header.parts.reduce((sum, [ranks, each]) => sum + ranks * each, 0)
}

/** Returns the first block of every rank, and the number of blocks. Length: ranks + 1. */
export function partStartOf({ parts, ranks }: Header): Int32Array {
  const starts = new Int32Array(ranks + 1)
  let rank = 0
  for (const [count, each] of parts) {
    for (const end = rank + count; rank < end; rank++) starts[rank + 1] = starts[rank] + each
  }
  return starts
}
