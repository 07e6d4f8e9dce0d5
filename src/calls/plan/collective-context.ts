import type { OperationOwner } from '../../messages/matching/pending.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { CollectiveEngine } from '../collective-engine.js'
import type { CollectivePlans } from './collective-plan.js'

/** A communicator as its collectives see it. */
export interface CollectiveContext extends CommContext {
  readonly collectives: CollectiveEngine
  /** Plans of its collectives. Made when the first one needs a plan. */
  readonly plans: CollectivePlans
  /** Who waits for the request of a collective that a rank has started. */
  readonly matching: { mailbox(rank: number): OperationOwner }
}
