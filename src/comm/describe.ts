import { type AlgorithmUse, algorithmUses } from '../calls/plan/collective-plan.js'
import type { Machine } from '../machine/machine.js'
import { formatMachine } from '../machine/machine-text.js'
import { usedMailboxDesign } from '../messages/mailboxes/mailbox.js'
import type { MatchingStatistics } from '../messages/mailboxes/matching-meter.js'
import { madeBy, matchingDesignOf } from '../messages/process/comm-context.js'
import type { MailboxDesign } from '../messages/process/matching-options.js'
import type { CommState } from './comm-state.js'
import type { PhaseCosts, SplitOrigin } from './split/split-call.js'
import type { SplitPlan } from './split/split-plan.js'
import type { LookupStatistics } from './table/distributed-table.js'

/** The way in which one split was carried out, and its cost for this process. */
export interface SplitReport extends Omit<SplitPlan, 'cacheRows'> {
  /** The phases in the order in which they ran: seconds, messages to other processes, and payload bytes of each. */
  readonly phases: PhaseCosts
  /**
   * The peak size of the arrays of the sort: rows, received data, the slice. Arguments and results of the ranks are not
   * counted.
   */
  readonly peakBytes: number
}

/** The bytes of the arrays that this process retains for a communicator, by content. */
export interface RetainedBytes {
  /** World ranks of all ranks; with a distributed table, those of the ranks here and of those looked up ahead. */
  readonly table: number
  /** The slice, bounds and look-up cache of all communicators of the same split together; 0 unless distributed. */
  readonly sharedTable: number
  /**
   * The list of processes, and which ranks each hosts from the first collective that gathers or scatters by rank on.
   */
  readonly processes: number
  /** The ranks here, and the number of collective calls that each has made. */
  readonly ranksHere: number
  /** The plans of its collectives that were used last. */
  readonly plans: number
  /** The sum of these. */
  readonly total: number
}

/**
 * The machine from which a communicator knows where its ranks are. Reorderings and neighborhood collectives read it.
 */
interface MachineUse {
  /**
   * The source of the machine. `options`: the options of its topology name it. `world`: it is that of `run`, where each
   * rank is on the core of its rank in the world. `nodes`: there is none, only the nodes of the world's processes.
   */
  readonly from: 'options' | 'world' | 'nodes'
  /** The machine's line of text, as `parseMachine` reads it; null without a machine. */
  readonly text: string | null
}

/** The time and memory that a communicator took in this process. */
export interface CommDescription {
  /** The name that `setName` gave; empty without. */
  readonly name: string
  /** The origin, `communicator 0.1 was made by split() #2 of the world`; null for the world. */
  readonly made: string | null
  readonly size: number
  readonly processes: number
  readonly ranksHere: number
  readonly table: {
    readonly kind: 'strided' | 'replicated' | 'distributed'
    /** The bytes retained here for this communicator alone. */
    readonly bytes: number
    /** The bytes retained here for all communicators of the same split: slice, bounds, cache; 0 unless distributed. */
    readonly sharedBytes: number
    /** The look-ups of all communicators of the same split; null unless distributed. */
    readonly lookups: LookupStatistics | null
  }
  readonly retained: RetainedBytes
  readonly machine: MachineUse
  /** The algorithms that have carried out its collectives here; none if one process has all ranks. */
  readonly collectives: readonly AlgorithmUse[]
  /** The designs of the matching queues of the ranks here, each once: `index` unless another one was chosen. */
  readonly matchingDesigns: readonly MailboxDesign[]
  /** The message matching of the ranks here that have taken part in a message; null unless the world counts it. */
  readonly matching: readonly MatchingStatistics[] | null
  /** The split that made it, also that of a `create`; null for the world and communicators made in other ways. */
  readonly split: SplitReport | null
  /** The last completed split of it, also if no rank of this process became a member; null before the first. */
  readonly lastSplit: SplitReport | null
}

/**
 * Describes a communicator. Local: nothing is sent.
 *
 * @param machine that the options of its topology name; undefined: none
 */
export function describeComm(state: CommState, machine?: Machine): CommDescription {
  const { table, processes, localRanks } = state
  const counts = state.runtime.options.matching?.count === true
  const isDistributed = table.kind === 'distributed'
  return {
    name: state.label,
    made: madeBy(state) ?? null,
    size: state.size,
    processes: processes.count,
    ranksHere: localRanks.length,
    table: {
      kind: table.kind,
      bytes: table.sizeBytes,
      sharedBytes: isDistributed ? table.slices.sizeBytes : 0,
      lookups: isDistributed ? table.slices.statistics : null,
    },
    retained: retainedBytes(state),
    machine: machineUse(state, machine),
    collectives: algorithmUses(state.plans),
    matchingDesigns: designsOf(state),
    matching: counts ? (state.openedMatching?.statistics ?? []) : null,
    split: state.origin === undefined ? null : reportOf(state.origin),
    lastSplit: state.lastSplit === undefined ? null : reportOf(state.lastSplit),
  }
}

function designsOf(state: CommState): MailboxDesign[] {
  const { length } = state.localRanks
  const ranks = state.matchingDesigns === undefined ? Math.min(1, length) : length
  const designs = Array.from({ length: ranks }, (_, index) =>
    usedMailboxDesign(matchingDesignOf(state, state.worldRank(index))),
  )
  return [...new Set(designs)]
}

function machineUse({ runtime }: CommState, machine: Machine | undefined): MachineUse {
  if (machine !== undefined) return { from: 'options', text: formatMachine(machine) }
  const ofWorld = runtime.options.machine
  return ofWorld === undefined
    ? { from: 'nodes', text: null }
    : { from: 'world', text: formatMachine(ofWorld) }
}

function retainedBytes(state: CommState): RetainedBytes {
  const { table, processes, localRanks, collectives, plans } = state
  let callBytes = 0
  for (const lane of collectives.lanes) callBytes += lane.next.byteLength
  const parts = {
    table: table.sizeBytes,
    sharedTable: table.kind === 'distributed' ? table.slices.sizeBytes : 0,
    processes: processes.sizeBytes,
    ranksHere: localRanks.byteLength + callBytes,
    plans: plans.sizeBytes,
  }
  return { ...parts, total: Object.values(parts).reduce((sum, bytes) => sum + bytes, 0) }
}

function reportOf({ plan, meter }: SplitOrigin): SplitReport {
  const { cacheRows: _, ...planned } = plan
  return { ...planned, phases: meter.costs, peakBytes: meter.peakBytes }
}
