import type { NeighborSchedule } from '../../schedule/ir.js'
import type { GroupingEngine } from '../../topology/friends/grouping-options.js'
import type { Grouping } from '../../topology/grouping/grouping.js'
import type { Routed } from '../route/routed.js'

/**
 * How to turn a topology into a neighbor-allgather schedule. `direct`: one message per distinct edge.
 * `common-neighbor`: groups of k friends combine what they send to common neighbors (Ghazimirsaeed 2019 §7).
 * `routed`: blocks travel together, digit by digit of the rank number.
 */
export type Strategy =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'common-neighbor'
      /** Friends per group, at least 2. */
      readonly k: number
      /** `aware`: friends share a node, theta defaults to k. `agnostic`: any ranks, theta defaults to k(k-1). */
      readonly mode: 'agnostic' | 'aware'
      /** A group needs strictly more common neighbors than this. */
      readonly theta?: number
      /** One exchange per pair of friends, even if they are in several groups together. Default true. */
      readonly dedupe?: boolean
      /** No direct message to a rank that an exchange reaches as well. Default true. */
      readonly elide?: boolean
      /**
       * The engine that groups friends. Default `greedy`, or `distributed` where `createDistGraphAdjacent` plans from
       * neighbors: the ranks group friends by messages to their neighbors, and find the plan of `greedy`. Other calls refuse
       * `distributed`: a process that has the whole topology could only simulate the ranks.
       */
      readonly engine?: GroupingEngine
      /** Breaks ties between equally heavy groups by a permutation of the ranks. Default: by the ranks themselves. */
      readonly labelSeed?: number
    }
  | Routed

export type CommonNeighbor = Extract<Strategy, { kind: 'common-neighbor' }>

/** A schedule and how it was made. */
export interface Plan {
  readonly schedule: NeighborSchedule
  /** The friend groups behind a common-neighbor plan. */
  readonly groups: Grouping | null
  readonly planMs: number
  /** The ranks it is for, where no process has the whole topology: those of this process. Undefined: all. */
  readonly ranks?: Int32Array
}

/** What a plan costs, counted from the schedule. */
export interface PlanStatistics {
  readonly ranks: number
  readonly strategy: string
  readonly k: number | null
  readonly theta: number | null
  readonly groups: number
  readonly steps: number
  readonly messages: {
    /** Distinct edges without self loops: what `direct` sends. */
    readonly direct: number
    readonly planned: number
    readonly meanPerRank: number
    readonly maxPerRank: number
    /** Messages whose two ranks are on different nodes; null without a machine. */
    readonly interNode: number | null
  }
  /** Blocks sent, counted once per message that carries them. */
  readonly volumeBlocks: number
}
