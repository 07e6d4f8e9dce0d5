import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveEngine } from '../collective-engine.js'
import type { TreePlan } from './reduce/reduction-tree.js'

/** A communicator as its collectives see it. */
export interface CollectiveContext extends CommContext {
  readonly collectives: CollectiveEngine
  /** How its reductions combine; planned by the first one. */
  reductionPlan: TreePlan | undefined
  /** The plan, while the processes of a distributed table make it. */
  reductionPlanning: Promise<TreePlan> | undefined
}
