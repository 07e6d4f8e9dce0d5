import type { CollectiveCall } from '../calls/collective-call.js'
import type { WaitOptions } from '../messages/process/wait-options.js'
import type { CommHandle, MakeHandle } from './handle.js'
import { contextLike } from './new-context.js'

export function dup<H>(comm: CommHandle, make: MakeHandle<H>, options?: WaitOptions): Promise<H> {
  const { state, localIndex } = comm.seat()
  const call: CollectiveCall<null, H> = {
    signature: { name: 'dup' },
    unplaced: true,
    run: async (hosted, exchange) => {
      const copy = await contextLike(state, exchange)
      return hosted.map((_, index) => make(copy, index))
    },
  }
  return state.collectives.call(localIndex, call, null, options)
}
