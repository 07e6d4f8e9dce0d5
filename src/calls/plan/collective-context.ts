import type { OperationOwner } from '../../messages/mailboxes/pending.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { CollectiveEngine } from '../collective-engine.js'
import type { CollectivePlans } from './collective-plan.js'
import type { OnlineCalls } from './online-calls.js'

/** A communicator as its collectives see it. */
export interface CollectiveContext extends CommContext {
  readonly collectives: CollectiveEngine
  /** Plans of its collectives. Made when the first one needs a plan. */
  readonly plans: CollectivePlans
  /** Online tuning of its calls; undefined unless the world learns from them. */
  readonly online: OnlineCalls | undefined
  /** Who waits for the request of a collective that a rank has started. */
  readonly matching: { mailbox(rank: number): OperationOwner }
}
