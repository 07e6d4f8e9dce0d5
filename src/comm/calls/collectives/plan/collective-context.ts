import type { CommContext } from '../../../table/comm-context.js'
import type { CollectiveEngine } from '../../collective-engine.js'
import type { TreePlan } from '../reduce/reduction-tree.js'
import type { CollectivePlans } from './collective-plan.js'

/** A communicator as its collectives see it. */
export interface CollectiveContext extends CommContext {
  readonly collectives: CollectiveEngine
  /** Plans of its collectives. Made when the first one needs a plan. */
  readonly plans: CollectivePlans
  /** How its reductions combine; planned by the first one. */
  reductionPlan: TreePlan | undefined
  /** The plan, while the processes of a distributed table make it. */
  reductionPlanning: Promise<TreePlan> | undefined
}
