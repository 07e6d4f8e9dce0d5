import { isRankweaveError } from '../../errors.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import { type AnyCall, type CollectiveCall, failAllRanks } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { BoundCollective, type BoundStart, type PersistentContext } from './bound-collective.js'
import { PersistentRequest } from './persistent-request.js'

/**
 * Returns the collective that the requests of the ranks of a process start. Collective.
 *
 * @param bind called when all ranks of the process have called, with what they passed, by local index; may exchange
 *   messages. ERR_ALGORITHM, which every process throws, leaves the communicator usable
 */
export function boundCollective<B>(
  { state, localIndex }: Seat<PersistentContext>,
  { signature, unplaced = false }: Pick<AnyCall, 'signature' | 'unplaced'>,
  buffers: B,
  bind: (buffers: readonly B[], exchange: Exchange) => BoundStart | Promise<BoundStart>,
): Promise<BoundCollective> {
  const call: CollectiveCall<B, BoundCollective> = {
    signature,
    unplaced,
    run: (all, exchange) => {
      const shared = (start: BoundStart) => {
        const bound = new BoundCollective(state, exchange, start)
        return all.map(() => bound)
      }
      try {
        const start = bind(all, exchange)
        return start instanceof Promise ? start.then(shared) : shared(start)
      } catch (error) {
        if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM') return failAllRanks(all.length, error)
        throw error
      }
    },
  }
  return state.collectives.call(localIndex, call, buffers)
}

/**
 * Returns the request of one rank.
 *
 * @param arrays what the rank binds, which every start checks
 */
export function boundRequest<B>(
  seat: Seat<PersistentContext>,
  call: Pick<AnyCall, 'signature' | 'unplaced'>,
  arrays: readonly TypedArray[],
  buffers: B,
  bind: (buffers: readonly B[], exchange: Exchange) => BoundStart | Promise<BoundStart>,
): PersistentRequest {
  return new PersistentRequest(seat, boundCollective(seat, call, buffers, bind), arrays)
}
