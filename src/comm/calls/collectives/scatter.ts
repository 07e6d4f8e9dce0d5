import { packBlocks, unpackBlocks } from '../../../base/packing.js'
import type { ReceiveBuffer } from '../../datatype/strided-view.js'
import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { scatterBytes } from '../exchange-patterns.js'
import { deliver } from './blocks.js'
import { byProcess, localIndexOf, processOfRank } from './placement.js'
import { blockFor, type SendBlocks } from './send-blocks.js'

export interface ScatterContribution {
  /** Only of the root. */
  readonly sendBlocks?: SendBlocks
  readonly into?: ReceiveBuffer | undefined
}

/** One message from the root's process to every other, with the blocks of all its ranks. */
export function scatterCall(
  state: CommContext,
  name: 'scatter' | 'scatterv',
  root: number,
): CollectiveCall<ScatterContribution | undefined, unknown> {
  return {
    signature: { name, root },
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      const sendBlocks = rootIndex < 0 ? undefined : contributions[rootIndex]!.sendBlocks!
      const finish = (type: number, blocks: readonly Uint8Array[]) =>
        blocks.map((block, localIndex) => deliver(state, type, block, contributions[localIndex]?.into))
      if (exchange.count === 1) {
        return finish(
          sendBlocks!.type,
          Array.from(state.localRanks, (rank) => blockFor(sendBlocks!, rank)),
        )
      }
      return spread(state, root, sendBlocks, exchange).then(([type, ...blocks]) => finish(type![0]!, blocks))
    },
  }
}

/** The element type, then the blocks of the ranks here. Only the root knows type and sizes. */
async function spread(
  state: CommContext,
  root: number,
  sendBlocks: SendBlocks | undefined,
  exchange: Exchange,
): Promise<Uint8Array[]> {
  const { processes } = state
  const rootProcess = processOfRank(processes, root)
  if (sendBlocks === undefined) return unpackBlocks(await scatterBytes(exchange, rootProcess, null))
  const type = Uint8Array.of(sendBlocks.type)
  const blocks = Array.from({ length: state.size }, (_, rank) => blockFor(sendBlocks, rank))
  const perProcess = byProcess(processes, blocks)
  const messages = perProcess.map((list, process) =>
    process === exchange.me ? type : packBlocks([type, ...list]),
  )
  await scatterBytes(exchange, rootProcess, messages)
  return [type, ...perProcess[exchange.me]!]
}
