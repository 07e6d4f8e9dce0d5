import { whenThere } from '../../base/turn.js'
import type { ReceiveBuffer } from '../../messages/datatype/strided-view.js'
import type { CommProcesses } from '../../messages/process/comm-context.js'
import { type CollectiveCall, RankFailure } from '../matching/collective-call.js'
import type { CollectiveContext } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { requireMethod } from '../plan/resolve.js'
import { blockFor, deliver, landingOf, type SendBlocks } from '../values/deliver.js'
import { isRankOrder, localIndexOf, processOfRank, ranksByProcess } from '../values/placement.js'
import {
  type BlockList,
  type BlockMemory,
  moveLists,
  type OwnBlocks,
  planLists,
  relayPlaces,
} from './move-blocks.js'

export interface ScatterContribution {
  /** The blocks to send; only the root has them. */
  readonly sendBlocks?: SendBlocks
  readonly into?: ReceiveBuffer | undefined
}

type Contributions = readonly (ScatterContribution | undefined)[]

/**
 * Returns a scatter. Only the root knows type and sizes, so it sends each process a list of the blocks for its ranks.
 * Short blocks travel in the list, long ones from the root's array straight into those of the ranks.
 *
 * @throws ERR_ALGORITHM when the method does not take this number of processes
 */
export function scatterCall(
  state: CollectiveContext,
  name: 'scatter' | 'scatterv',
  root: number,
  method: Method | undefined,
): CollectiveCall<ScatterContribution | undefined, unknown> {
  requireMethod(state, method, { isSized: false })
  return {
    signature: { name, root, ...(method === undefined ? {} : { method: method.name }) },
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      const process = processOfRank(state.processes, root)
      if (rootIndex < 0) {
        const arrival = new Arrival(state, contributions)
        const meet = (lists: ReadonlyMap<number, BlockList>) => {
          arrival.meet(lists.get(exchange.me)!)
          return (to: number) =>
            to === exchange.me ? arrival.places() : relayPlaces(exchange, lists.get(to)!)
        }
        return whenThere(planLists(state, 'scatter', method, process), (plans) =>
          moveLists(plans, nothing, 0, exchange, meet, () => exchange.finish(arrival.results())),
        )
      }
      const sendBlocks = contributions[rootIndex]!.sendBlocks!
      const { type } = sendBlocks
      const results = () =>
        Array.from(state.localRanks, (rank, localIndex) =>
          deliver(state, type, blockFor(sendBlocks, rank), contributions[localIndex]?.into),
        )
      if (exchange.count === 1) return results()
      return whenThere(planLists(state, 'scatter', method, process), (plans) => {
        moveLists(plans, blocksByProcess(state, sendBlocks), type, exchange, () => nothing, noResults)
        return results()
      })
    },
  }
}

const nothing = () => []
const noResults = () => {}

function blocksByProcess(state: CollectiveContext, sendBlocks: SendBlocks): OwnBlocks {
  const { processes } = state
  // No list of the ranks of every process is needed if each hosts one run of them.
  if (isRankOrder(processes)) return blocksInRuns(processes, sendBlocks)
  const ranks = ranksByProcess(state)
  const blocks: (readonly Uint8Array[])[] = []
  return (process) => {
    blocks[process] ??= ranks[process].map((rank) => blockFor(sendBlocks, rank))
    return blocks[process]
  }
}

function blocksInRuns({ runStart }: CommProcesses, sendBlocks: SendBlocks): OwnBlocks {
  const blocks: (readonly Uint8Array[])[] = []
  return (process) => {
    const first = runStart[process]
    blocks[process] ??= Array.from({ length: runStart[process + 1] - first }, (_, i) =>
      blockFor(sendBlocks, first + i),
    )
    return blocks[process]
  }
}

/** The blocks that the ranks of a process get from a root elsewhere. */
class Arrival {
  readonly #state: CollectiveContext
  readonly #contributions: Contributions
  #list: BlockList | undefined
  #landings: readonly ReturnType<typeof landingOf>[] = []

  constructor(state: CollectiveContext, contributions: Contributions) {
    this.#state = state
    this.#contributions = contributions
  }

  /** Makes room for the blocks, whose lengths are known now. */
  meet(list: BlockList): void {
    this.#list = list
    const { tag: type, short, sizes } = list
    if (!short.includes(undefined)) return
    this.#landings = short.flatMap((block, localIndex) =>
      block === undefined ? [landingOf(type, sizes[localIndex], this.#into(localIndex))] : [],
    )
  }

  places(): BlockMemory {
    return this.#landings.map((landing) => (landing instanceof RankFailure ? null : landing.bytes))
  }

  /** Returns the results by local index, when all blocks are there. */
  results(): readonly unknown[] {
    const { tag: type, short } = this.#list!
    let long = 0
    return short.map((block, localIndex) => {
      if (block !== undefined) return deliver(this.#state, type, block, this.#into(localIndex))
      const landing = this.#landings[long++]
      return landing instanceof RankFailure ? landing : landing.finish()
    })
  }

  #into(localIndex: number): ReceiveBuffer | undefined {
    return this.#contributions[localIndex]?.into
  }
}
