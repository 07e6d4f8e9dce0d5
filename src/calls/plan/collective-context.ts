import type { OperationOwner } from '../../messages/mailboxes/pending-operation.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { CollectiveEngine } from '../collective-engine.js'
import type { CollectivePlans } from './collective-plan.js'
import type { OnlineCalls } from './online-calls.js'

export interface CollectiveContext extends CommContext {
  readonly collectives: CollectiveEngine
  /** The plans of its collectives, made when the first one needs a plan. */
  readonly plans: CollectivePlans
  /** The online tuning of its calls; undefined unless the world learns from them. */
  readonly online: OnlineCalls | undefined
  /** The mailboxes of ranks, which wait for the request of a collective that they have started. */
  readonly matching: { mailbox(rank: number): OperationOwner }
}
