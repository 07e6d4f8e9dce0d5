import type { FriendGroups } from '../friends/friend-groups.js'
import type { GroupingEngine } from '../friends/grouping-options.js'
import type { GroupingMessages } from './grouping-messages.js'

/** Groups, and how they were found. */
export interface Grouping extends FriendGroups {
  readonly engine: GroupingEngine
  /** Common neighbors of all groups: the messages that each member of a group saves, before exchanges. */
  readonly weight: number
  /** Messages between ranks, if the distributed engine found the groups. */
  readonly messages: GroupingMessages | null
  /**
   * For every round, how many decisions waited for each other, one after the other: its depth, however many
   * ranks decide at the same time. When ranks matched themselves; depends on what arrived first.
   */
  readonly waves: readonly number[] | null
  readonly timeMs: number
}
