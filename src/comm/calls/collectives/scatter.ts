import type { Landing } from '../../datatype/payload.js'
import type { ReceiveBuffer } from '../../datatype/strided-view.js'
import type { CommContext } from '../../table/comm-context.js'
import { type CollectiveCall, RankFailure } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { sendBlockList, takeBlockList, takeLongBlocks } from './blocks/block-list.js'
import { deliver } from './blocks/deliver.js'
import { byProcess, localIndexOf, processOfRank } from './blocks/placement.js'
import { blockFor, type SendBlocks } from './blocks/send-blocks.js'
import { landingOf } from './blocks/shared-landing.js'

export interface ScatterContribution {
  /** Only of the root. */
  readonly sendBlocks?: SendBlocks
  readonly into?: ReceiveBuffer | undefined
}

type Contributions = readonly (ScatterContribution | undefined)[]

/**
 * The root's process sends every other one the blocks of its ranks: short ones in one message, long ones from the root's
 * array straight into those of the ranks. Only the root knows type and sizes.
 */
export function scatterCall(
  state: CommContext,
  name: 'scatter' | 'scatterv',
  root: number,
): CollectiveCall<ScatterContribution | undefined, unknown> {
  return {
    signature: { name, root },
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      if (rootIndex < 0) {
        receive(state, processOfRank(state.processes, root), contributions, exchange)
        return undefined
      }
      const sendBlocks = contributions[rootIndex]!.sendBlocks!
      if (exchange.count > 1) send(state, sendBlocks, exchange)
      return Array.from(state.localRanks, (rank, localIndex) =>
        deliver(state, sendBlocks.type, blockFor(sendBlocks, rank), contributions[localIndex]?.into),
      )
    },
  }
}

function send(state: CommContext, sendBlocks: SendBlocks, exchange: Exchange): void {
  const { me, count } = exchange
  const blocks = Array.from({ length: state.size }, (_, rank) => blockFor(sendBlocks, rank))
  const perProcess = byProcess(state.processes, blocks)
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    sendBlockList(exchange, peer, perProcess[peer]!, sendBlocks.type)
  }
}

function receive(state: CommContext, root: number, contributions: Contributions, exchange: Exchange): void {
  takeBlockList(exchange, root, (list) => {
    const { tag: type, short, sizes } = list
    const landings: (Landing | RankFailure)[] = []
    const finish = () =>
      exchange.finish(
        short.map((block, localIndex) => {
          if (block !== undefined) return deliver(state, type, block, contributions[localIndex]?.into)
          const landing = landings[localIndex]!
          return landing instanceof RankFailure ? landing : landing.finish()
        }),
      )
    let missing = short.reduce((sum, block) => (block === undefined ? sum + 1 : sum), 0)
    if (missing === 0) finish()
    const roomFor = (localIndex: number) => {
      const landing = landingOf(type, sizes[localIndex]!, contributions[localIndex]?.into)
      landings[localIndex] = landing
      return landing instanceof RankFailure ? null : landing.bytes
    }
    takeLongBlocks(exchange, root, list, roomFor, () => {
      if (--missing === 0) finish()
    })
  })
}
