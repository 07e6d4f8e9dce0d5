import { RankweaveError } from '../../errors.js'

/**
 * A message with which ranks group friends when no rank knows the whole topology. Between two ranks messages stay in
 * order; otherwise they may arrive in any order.
 *
 * @see Ghazimirsaeed 2019 §7.3.2, Algorithms 7.1-7.3; differences and their reasons: docs/decisions/0003
 */
export interface GroupingMessage {
  readonly kind: GroupingMessageKind
  /** The round of `request`, `end`, `bye`, `served`; else -1. */
  readonly round: number
  /** The length of the chain of decisions that led to a `request` or an `end`; 0 for other kinds. */
  readonly wave: number
  /** The ranks, by kind; read-only. */
  readonly ranks: Int32Array
}

export const groupingMessageKinds = [
  /** Each rank sends it first, to every source: all sources of the sender, then in aware mode the node of each. */
  'sources',
  /** Proposes a group: the members of the sender's best group. */
  'request',
  /** The sender has finished the round: the out-neighbors that its group serves, none without a group. */
  'end',
  /** The sender has no group left, now or later. */
  'bye',
  /** Each rank sends it last, to out-neighbors to which it sends directly. */
  'direct',
  /**
   * Each rank sends it last, to out-neighbors that its group of that round serves, and names the member that serves
   * them.
   */
  'served',
] as const

export type GroupingMessageKind = (typeof groupingMessageKinds)[number]

/** The parameters on which all ranks agree before they group. */
export interface GroupingAgreement {
  readonly ranks: number
  readonly k: number
  readonly theta: number
  /** Breaks ties: a permutation of the ranks, or null for the ranks themselves. */
  readonly labels: Int32Array | null
}

/** A rank's knowledge at the start: its neighbors and their nodes. */
export interface RankNeighbors {
  readonly rank: number
  /** The distinct destinations without itself, ascending. */
  readonly destinations: Int32Array
  /** The distinct sources without itself, ascending. */
  readonly sources: Int32Array
  /** Its own node and that of every source, in aware mode; else null. */
  readonly nodes: { readonly own: number; readonly ofSources: Int32Array } | null
}

/** A rank's knowledge at the end: its share of the friend groups. */
export interface RankPattern {
  readonly rank: number
  readonly groups: readonly RankGroup[]
  /** The destinations that no group of the rank serves, ascending. */
  readonly direct: Int32Array
  /** The sources that send directly, ascending. */
  readonly directSources: Int32Array
  /** The groups that serve the rank, by round, then members. */
  readonly servedBy: readonly ServingGroup[]
}

export interface RankGroup {
  readonly step: number
  readonly members: Int32Array
  readonly common: Int32Array
}

export interface ServingGroup {
  readonly step: number
  readonly members: Int32Array
  /** The member that sends the combined message. */
  readonly holder: number
}

/** Messages that ranks sent, by kind. */
export type GroupingMessages = Record<GroupingMessageKind, number>

export const noMessages = (): GroupingMessages => ({
  sources: 0,
  request: 0,
  end: 0,
  bye: 0,
  direct: 0,
  served: 0,
})

/**
 * Returns the error of a message of the protocol that contradicts what its receiver knows, or the order in which a rank
 * sends.
 */
export function violation(rank: number, from: number, what: string): RankweaveError {
  const message = `planning, rank ${rank}: ${what} from rank ${from}`
  return new RankweaveError('ERR_PLAN_MISMATCH', message, { details: { rank, from } })
}
