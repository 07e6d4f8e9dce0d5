import type { Exchange } from '../calls/exchange/exchange.js'
import { verifiedPlan } from '../neighborhood/plan/plan.js'
import { type PlanStore, storedPlan, storePlan } from '../neighborhood/plan/plan-store.js'
import { agreedPlan } from './distributed/agreed-plan.js'
import type { Neighborhood } from './plan/neighborhood.js'

/**
 * Plans when the communicator is created, by a stored plan if there is one; the plan is the same on all processes. All
 * processes of the exchange call it; `neighborhood` is null on those without ranks of the topology.
 *
 * @throws what {@link agreedPlan} throws, the same on all processes
 */
export async function planByStore(
  exchange: Exchange,
  neighborhood: Neighborhood | null,
  store: PlanStore,
): Promise<void> {
  if (neighborhood === null) {
    await agreedPlan(exchange, null, null)
    return
  }
  const { topology, strategy, nodes } = neighborhood
  const make = () => verifiedPlan(topology, strategy, { nodeOf: nodes })
  const first = async () =>
    neighborhood.planInMemory ?? (await storedPlan(store, topology, strategy, nodes, make)).plan
  const afresh = async () => {
    const made = make()
    await storePlan(store, topology, strategy, nodes, made)
    return made
  }
  neighborhood.adopt((await agreedPlan(exchange, first, afresh))!)
}
