import type { Exchange } from '../collective-engine.js'
import type { CommState, ContextId } from '../comm-state.js'
import type { LocalRankTable } from '../rank-table.js'

/** What the ranks of one process passed to a split, by local index. */
export interface SplitRequest {
  /** -1: not a member of any new communicator. */
  readonly color: Int32Array
  readonly key: Int32Array
}

/** A new communicator as one of its processes knows it. */
export interface SplitPart {
  readonly id: ContextId
  readonly table: LocalRankTable
  /** Local indices, in the parent, of its ranks hosted here, in the order of their new ranks. */
  readonly hosted: Int32Array
}

/**
 * How the processes of a communicator find out together who ends up with whom. Each gets the parts that have ranks
 * of its own, and nothing else.
 */
export type SplitAlgorithm = (
  parent: CommState,
  exchange: Exchange,
  request: SplitRequest,
) => Promise<readonly SplitPart[]>
