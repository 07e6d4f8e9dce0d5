import { isRankweaveError } from '../../errors.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import { type CollectiveCall, failAllRanks } from '../collective-call.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import { BoundCollective, type BoundStore, programStart } from '../program/bound-collective.js'
import { PersistentRequest } from '../program/persistent-request.js'
import type { Signature } from '../signature.js'

/** A plan, and how the buffers of the ranks of a process are its values. */
export interface BoundPlan extends BoundStore {
  readonly plan: CollectivePlan
}

/**
 * The request of one rank. Collective: when all ranks of the process have called, `bind` is called with what
 * they passed, by local index. No message is sent.
 *
 * @param arrays what the rank binds, which every start checks
 */
export function requestOf<B>(
  { state, localIndex, handle }: Seat<CollectiveContext>,
  signature: Signature,
  arrays: readonly TypedArray[],
  buffers: B,
  bind: (buffers: readonly B[], processIndex: number) => BoundPlan,
): PersistentRequest {
  const call: CollectiveCall<B, BoundCollective> = {
    signature,
    run(all, exchange) {
      try {
        const bound = bind(all, exchange.me)
        const start = programStart(signature, bound.plan.program, bound)
        const shared = new BoundCollective(state, exchange, start)
        return Array.from(state.localRanks, () => shared)
      } catch (error) {
        if (isRankweaveError(error)) return failAllRanks(state.localRanks.length, error)
        throw error
      }
    },
  }
  return new PersistentRequest(handle, state.collectives.call(localIndex, call, buffers), arrays)
}
