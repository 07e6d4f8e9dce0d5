/**
 * What ranks tell each other to match friends without anybody who knows the whole topology. Between two ranks messages
 * keep their order; otherwise they may arrive in any.
 *
 * @see Ghazimirsaeed 2019 §7.3.2, Algorithms 7.1-7.3; what is different here and why: docs/decisions/0007
 */
export interface GroupingMessage {
  readonly kind: GroupingMessageKind
  /** Round of `request`, `end`, `bye`, `served`; -1 else. */
  readonly round: number
  /** Of `request`, `end`: the length of the chain of decisions that led to it. 0 else. */
  readonly wave: number
  /** Ranks, by kind; nobody writes to them. */
  readonly ranks: Int32Array
}

export const groupingMessageKinds = [
  /** To every source, first: all sources of the sender, then in aware mode the node of each. */
  'sources',
  /** "Let us match": the members of the sender's best group. */
  'request',
  /** The sender is through with the round: the out-neighbors its group serves, none without a group. */
  'end',
  /** The sender has no group left, now or ever. */
  'bye',
  /** To an out-neighbor, last: the sender sends to it directly. */
  'direct',
  /** To an out-neighbor, last: the sender's group of that round serves it, by the member named. */
  'served',
] as const

export type GroupingMessageKind = (typeof groupingMessageKinds)[number]

/** What a rank knows at the beginning: its neighbors and where they live. */
export interface RankView {
  readonly rank: number
  /** Distinct destinations without itself, ascending. */
  readonly destinations: Int32Array
  /** Distinct sources without itself, ascending. */
  readonly sources: Int32Array
  /** Its own node and that of every source, in aware mode; else null. */
  readonly nodes: { readonly own: number; readonly ofSources: Int32Array } | null
}

/** What a rank knows at the end: its part of the friend groups. */
export interface RankPattern {
  readonly rank: number
  readonly groups: readonly RankGroup[]
  /** Destinations that no group of the rank serves, ascending. */
  readonly direct: Int32Array
  /** Sources that send directly, ascending. */
  readonly directSources: Int32Array
  /** Groups that serve the rank, by round, then members. */
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
export type MessageCounts = Record<GroupingMessageKind, number>

export const noMessages = (): MessageCounts => ({
  sources: 0,
  request: 0,
  end: 0,
  bye: 0,
  direct: 0,
  served: 0,
})
