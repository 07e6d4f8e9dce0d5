import type { NeighborSchedule } from '../../schedule/ir.js'
import type { Grouping } from '../../topology/grouping/group-friends.js'
import type { Allgather } from './allgather.js'
import type { Cartesian } from './cartesian.js'
import type { CommonNeighbor } from './common-neighbor.js'
import type { Cumulative } from './cumulative.js'
import type { Descending } from './descending.js'
import type { Direct } from './direct.js'
import type { Hierarchical } from './hierarchical.js'
import type { Lanes } from './lanes.js'
import type { Pipelined } from './pipelined.js'
import type { Routed } from './routed.js'

/**
 * The strategies that turn a topology into a neighbor-allgather schedule. The table of strategies has the kinds and
 * their effects (docs/strategies.md#options).
 */
export type Strategy =
  | Direct
  | CommonNeighbor
  | Descending
  | Cumulative
  | Routed
  | Hierarchical
  | Lanes
  | Cartesian
  | Allgather
  | Pipelined

/** A schedule and how it was made. */
export interface Plan {
  readonly schedule: NeighborSchedule
  /** The friend groups behind a common-neighbor plan. */
  readonly groups: Grouping | null
  readonly planMs: number
  /** The ranks that the plan serves if no process has the whole topology: those of this process. Undefined for all. */
  readonly ranks?: Int32Array
}

/** The costs of a plan, counted from the schedule. */
export interface PlanStatistics {
  readonly ranks: number
  readonly strategy: string
  readonly k: number | null
  readonly theta: number | null
  readonly groups: number
  readonly steps: number
  readonly messages: {
    /** The number of distinct edges without self loops, which is that of the messages of `direct`. */
    readonly direct: number
    readonly planned: number
    readonly meanPerRank: number
    readonly maxPerRank: number
    /** The number of messages whose two ranks are on different nodes; null without a machine. */
    readonly interNode: number | null
  }
  /** The number of blocks sent, counted once per message that carries them. */
  readonly volumeBlocks: number
}
