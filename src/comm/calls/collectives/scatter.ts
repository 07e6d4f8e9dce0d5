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
import type { CollectiveContext } from './plan/collective-context.js'
import type { Method } from './plan/method.js'
import { chooseMove, requireServed } from './plan/planned-move.js'
import { receivePlanned, scatterPlanned } from './planned-scatter.js'

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
  state: CollectiveContext,
  name: 'scatter' | 'scatterv',
  root: number,
  method: Method | undefined,
): CollectiveCall<ScatterContribution | undefined, unknown> {
  const isPlanned = method?.algorithm !== undefined
  if (isPlanned) requireServed(state, method.algorithm!, method.segments ?? 1)
  return {
    signature: { name, root, ...(method === undefined ? {} : { method: method.name }) },
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      if (rootIndex < 0 && isPlanned) {
        const intos = Array.from(state.localRanks, (_, localIndex) => contributions[localIndex]?.into)
        receivePlanned(state, processOfRank(state.processes, root), intos, exchange)
        return undefined
      }
      if (rootIndex < 0) {
        receive(state, processOfRank(state.processes, root), contributions, exchange)
        return undefined
      }
      const sendBlocks = contributions[rootIndex]!.sendBlocks!
      const results = () =>
        Array.from(state.localRanks, (rank, localIndex) =>
          deliver(state, sendBlocks.type, blockFor(sendBlocks, rank), contributions[localIndex]?.into),
        )
      if (exchange.count > 1 && isPlanned) {
        const { size } = state
        const chosen = chooseMove(state, 'scatter', method, sendBlocks.bytes.byteLength / size)!
        scatterPlanned(state, chosen, sendBlocks, exchange, () => exchange.finish(results()))
        return undefined
      }
      if (exchange.count > 1) send(state, sendBlocks, exchange)
      return results()
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
