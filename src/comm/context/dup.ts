import type { CollectiveCall } from '../calls/collective-call.js'
import type { WaitOptions } from '../process/wait-options.js'
import type { CommHandle, MakeHandle } from './handle.js'
import { drawCounterOn } from './new-context.js'

export function dup<H>(comm: CommHandle, make: MakeHandle<H>, options?: WaitOptions): Promise<H> {
  const { state, localIndex } = comm.seat()
  const call: CollectiveCall<null, H> = {
    signature: { name: 'dup' },
    unplaced: true,
    run: async (hosted, exchange) => {
      // Process 0 hosts rank 0, which is the leader of the copy as of the original.
      const counter = await drawCounterOn(state, exchange, 0)
      const { table, processes, runtime } = state
      const numbered = state.wasDistributed ? processes.processes : undefined
      const copy = runtime.createContext({ leader: state.leader, counter }, table, numbered)
      return hosted.map((_, index) => make(copy, index))
    },
  }
  return state.collectives.call(localIndex, call, null, options)
}
