import type { CollectiveCall } from '../../calls/collective-call.js'
import type { Exchange } from '../../calls/exchange.js'
import { BoundCollective, type BoundStart } from '../../calls/program/bound-collective.js'
import { PersistentRequest } from '../../calls/program/persistent-request.js'
import type { Signature } from '../../calls/signature.js'
import type { CommSeat } from '../../comm/handle.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Neighborhood } from './neighborhood.js'

/**
 * What the requests of the ranks of a process start. Collective.
 *
 * @param bind called when all ranks of the process have called, with what they passed, by local index; may
 *   exchange messages
 */
export function boundCollective<B>(
  { state, localIndex }: CommSeat,
  { isLocated }: Neighborhood,
  signature: Signature,
  buffers: B,
  bind: (buffers: readonly B[], exchange: Exchange) => BoundStart | Promise<BoundStart>,
): Promise<BoundCollective> {
  const call: CollectiveCall<B, BoundCollective> = {
    signature,
    unplaced: isLocated,
    run: (all, exchange) => {
      const shared = (start: BoundStart) => {
        const bound = new BoundCollective(state, exchange, start)
        return all.map(() => bound)
      }
      const start = bind(all, exchange)
      return start instanceof Promise ? start.then(shared) : shared(start)
    },
  }
  return state.collectives.call(localIndex, call, buffers)
}

/** The request of one rank. @param arrays what the rank binds, which every start checks */
export function boundRequest<B>(
  seat: CommSeat,
  neighborhood: Neighborhood,
  signature: Signature,
  arrays: readonly TypedArray[],
  buffers: B,
  bind: (buffers: readonly B[], exchange: Exchange) => BoundStart | Promise<BoundStart>,
): PersistentRequest {
  const setup = boundCollective(seat, neighborhood, signature, buffers, bind)
  return new PersistentRequest(seat.handle, setup, arrays)
}
