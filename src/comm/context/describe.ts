import type { LookupStatistics } from '../table/distributed-table.js'
import type { CommState } from './comm-state.js'
import type { SplitOrigin } from './split/plan/split-call.js'
import type { PhaseCosts } from './split/plan/split-meter.js'
import type { SplitPlan } from './split/plan/split-plan.js'

/** How a split went in this process. */
export interface SplitReport extends Omit<SplitPlan, 'cacheRows'> {
  /** In the order in which they ran: seconds, messages to other processes, payload bytes. */
  readonly phases: PhaseCosts
  /**
   * Most bytes that the arrays of the sort took at one time: rows, what arrived, the slice. What ranks pass and are told
   * of themselves is not counted.
   */
  readonly peakBytes: number
}

/** What this process knows of a communicator, for people who ask where time and memory go. */
export interface CommDescription {
  readonly size: number
  readonly processes: number
  readonly ranksHere: number
  readonly table: {
    readonly kind: 'strided' | 'replicated' | 'distributed'
    /** Bytes kept here for this communicator alone. */
    readonly bytes: number
    /** Bytes kept here for all communicators of the same split: slice, addresses, bounds; 0 unless distributed. */
    readonly sharedBytes: number
    /** What look-ups have cost, of all communicators of the same split; null unless distributed. */
    readonly lookups: LookupStatistics | null
  }
  /** The split it came from, also that of a `create`; null for the world and for what was made in other ways. */
  readonly split: SplitReport | null
  /** The last split of it that is complete here, also where no rank of this process became a member; null before. */
  readonly lastSplit: SplitReport | null
}

/** Local: nothing is sent. */
export function describeComm(state: CommState): CommDescription {
  const { table, processes, localRanks } = state
  const isDistributed = table.kind === 'distributed'
  return {
    size: state.size,
    processes: processes.count,
    ranksHere: localRanks.length,
    table: {
      kind: table.kind,
      bytes: table.sizeBytes,
      sharedBytes: isDistributed ? table.slices.sizeBytes : 0,
      lookups: isDistributed ? table.slices.statistics : null,
    },
    split: state.origin === undefined ? null : reportOf(state.origin),
    lastSplit: state.lastSplit === undefined ? null : reportOf(state.lastSplit),
  }
}

function reportOf({ plan, meter }: SplitOrigin): SplitReport {
  const { cacheRows: _, ...planned } = plan
  return { ...planned, phases: meter.costs, peakBytes: meter.peakBytes }
}
