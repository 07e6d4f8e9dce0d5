// What a creation needs once the ranks have agreed on its arguments, and what its communicators need: loaded by
// the first one (`create.ts`), because many programs create none.
export { prepareChoices } from '../neighborhood/choose/choose-strategy.js'
export { cartTopology } from '../topology/generate/cartesian.js'
export { prepareEngine } from '../topology/grouping/exact-round.js'
export { topologyFromEdges, topologyFromLists } from '../topology/topology-builders.js'
export { CartCommunicator } from './cart-communicator.js'
export { gatherEdges } from './distributed/gather-lists.js'
export { Neighborhood } from './execute/neighborhood.js'
export { jointNeighborCalls } from './joint-neighbor-calls.js'
export { planByStore } from './stored-plans.js'
export { cachedTopology } from './topology-cache.js'
export { TopologyCommunicator } from './topology-communicator.js'
export { topologyOrPlan } from './topology-or-plan.js'
