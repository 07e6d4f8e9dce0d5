import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { Form, Handle } from '../../calls/collectives/form.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall } from '../../calls/matching/collective-call.js'
import { runProgram } from '../../calls/program/run-program.js'
import type { CollectiveName } from '../../calls/signature.js'
import { type Layout, layoutOf } from '../../calls/values/deliver.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import { chosenAlltoall } from '../execute/chosen.js'
import { deliverVarying } from '../execute/deliver-varying.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { Neighborhood } from '../execute/neighborhood.js'
import type { OperationProgram } from '../execute/placement.js'
import { BlockStore } from '../memory/block-store.js'
import { checkInto, elementWords } from '../memory/buffers.js'
import { wordViewOf } from '../memory/memory-words.js'
import { countedEdgeBlocks, type EdgeBlocks } from './edge-blocks.js'
import { equalCall, equalSendOf } from './equal-alltoall.js'
import { type NeighborBlocksOptions, neighborBlocksOptions } from './neighbor-allgather.js'

/** Options of an alltoall of blocks of varying lengths. */
export interface EdgeBlocksOptions<I extends TypedArray = TypedArray> extends NeighborBlocksOptions<I> {
  /** The start of each block in the data. Default: side by side. */
  readonly sendDispls?: ArrayLike<number>
}

const edgeBlocksOptions: OptionTable<EdgeBlocksOptions> = {
  ...neighborBlocksOptions,
  ...uncheckedOptions('sendDispls'),
}

interface Contribution {
  readonly blocks: EdgeBlocks
  readonly layout: Layout
}

/**
 * Sends the block of slot s to the s-th destination; all blocks are equal. A process that gets blocks of another length
 * than its ranks send fails the collective.
 */
export function neighborAlltoall<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  options?: IntoOptions,
): R {
  const name = 'neighborAlltoall'
  return form.attempt(comm, name, intoOptions, options, (seat) => {
    const { type, blocks } = equalSendOf(name, neighborhood, seat.rank, data, options?.into)
    return form.join(
      seat,
      equalCall(seat.state.localRanks, neighborhood, type, blocks.count),
      blocks,
      options,
    )
  })
}

/** Exchanges blocks of varying lengths. Frames carry the lengths, so no receiver needs to know them before. */
export function neighborAlltoallv<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  sendCounts: ArrayLike<number>,
  options?: EdgeBlocksOptions,
): R {
  const name = 'neighborAlltoallv'
  return form.attempt(comm, name, edgeBlocksOptions, options, (seat) => {
    const slots = neighborhood.sendSlotsOf(seat.rank)
    const blocks = countedEdgeBlocks(name, data, slots, sendCounts, options?.sendDispls)
    const { type } = blocks
    checkInto(name, options?.into, type, 0)
    const layout = layoutOf(name, options, neighborhood.slotsOf(seat.rank), 'source')
    const call = neighborAlltoallCall<Contribution>(
      neighborhood,
      name,
      type,
      blocksOf,
      (contributions, { program }, store) => {
        const wanted = contributions.map((each) => each.layout)
        return deliverVarying(name, neighborhood, program, store, type, wanted)
      },
    )
    return form.join(seat, call, { blocks, layout }, options)
  })
}

const blocksOf = ({ blocks }: Contribution): EdgeBlocks => blocks

/**
 * Makes a call that exchanges blocks of one element type.
 *
 * @param blocksOf what a rank sends, read when the call runs
 * @param deliver what every hosted rank gets
 */
export function neighborAlltoallCall<C>(
  neighborhood: Neighborhood,
  name: CollectiveName,
  type: number,
  blocksOf: (contribution: C) => EdgeBlocks,
  deliver: (
    contributions: readonly C[],
    operation: OperationProgram,
    store: BlockStore,
  ) => readonly unknown[],
): CollectiveCall<C, unknown> {
  return {
    signature: { name, type },
    unplaced: neighborhood.isLocated,
    run: (contributions, exchange) => {
      const start = (by: Neighborhood): undefined => {
        const operation = by.operation('neighbor-alltoall')
        const blocks = contributions.map(blocksOf)
        exchangeEdges(by, operation, blocks, type, exchange, (store) =>
          exchange.finish(deliver(contributions, operation, store)),
        )
        return undefined
      }
      const chosen = chosenAlltoall(neighborhood, null)
      return chosen instanceof Promise ? chosen.then(start) : start(chosen)
    },
  }
}

function exchangeEdges(
  { traffic }: Neighborhood,
  operation: OperationProgram,
  blocks: readonly EdgeBlocks[],
  type: number,
  exchange: Exchange,
  done: (store: BlockStore) => void,
): void {
  const { program } = operation
  const perElement = elementWords(type)
  const ownWords = blocks.reduce((sum, { elements }) => sum + elements.length * perElement, 0)
  const store = BlockStore.open(program, elementSizeBytes(type), ownWords)
  for (const [i, { elements, starts, counts }] of blocks.entries()) {
    const words = wordViewOf(elements)
    for (let value = program.ownStart[i]; value < program.ownStart[i + 1]; value++) {
      const slot = operation.slotOf(i, value)
      store.extend(value, counts[slot] * perElement)
      store.put(value, words, starts[slot] * perElement)
    }
  }
  runProgram(program, exchange, store, () => {
    countRun(traffic, program.counts)
    done(store)
  })
}
