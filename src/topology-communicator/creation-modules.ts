// The modules that a creation needs once the ranks have agreed on its arguments, and those that its communicators need.
// The first creation loads them (`create.ts`), because many programs create none.
export { cartTopology } from '../topology/generate/cartesian.js'
export { prepareEngine } from '../topology/grouping/exact-round.js'
export { topologyFromEdges, topologyFromLists } from '../topology/topology-builders.js'
export { gatherEdges } from './distributed/gather-lists.js'
export { Neighborhood } from './plan/neighborhood.js'
export { cachedTopology } from './plan/topology-cache.js'
export { reorderedSlots } from './reorder.js'
export { planByStore } from './stored-plans.js'
export { topologyOrPlan } from './topology-or-plan.js'
