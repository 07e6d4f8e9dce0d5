import type { FriendGroups } from '../friends/friend-groups.js'
import type { GroupingEngine } from '../friends/grouping-options.js'
import type { GroupingMessages } from './grouping-messages.js'

/** Groups, and how they were found. */
export interface Grouping extends FriendGroups {
  readonly engine: GroupingEngine
  /** The number of common neighbors of all groups: the messages that each member of a group saves, before exchanges. */
  readonly weight: number
  /** The messages between ranks, if the distributed engine found the groups. */
  readonly messages: GroupingMessages | null
  /**
   * The depth of every round: how many decisions waited for each other, one after the other, however many ranks decide
   * at the same time. It exists if ranks matched themselves, and depends on which messages arrived first.
   */
  readonly waves: readonly number[] | null
  readonly timeMs: number
}
