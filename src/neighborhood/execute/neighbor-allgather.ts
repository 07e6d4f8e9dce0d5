import { requireOptions } from '../../base/require-options.js'
import { type CollectiveCall, RankFailure } from '../../comm/calls/collective-call.js'
import type { Gathered } from '../../comm/calls/collectives/blocks/gathered.js'
import type { BlocksOptions, IntoOptions } from '../../comm/calls/collectives/plan/options.js'
import type { Exchange } from '../../comm/calls/exchange.js'
import { runProgram } from '../../comm/calls/program/run-program.js'
import type { CommSeat } from '../../comm/context/handle.js'
import { elementSizeBytes, type TypedArray } from '../../comm/datatype/elements.js'
import { isRankweaveError } from '../../errors.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { type BlockLayout, blockLayout } from './block-layout.js'
import { BlockStore } from './block-store.js'
import { checkInto, contributionOf, elementWords } from './buffers.js'
import { fillSlots } from './fill-slots.js'
import { wordViewOf } from './memory-words.js'
import { countRun } from './neighbor-traffic.js'
import type { Neighborhood } from './neighborhood.js'
import { receiveBuffers } from './receive-buffers.js'
import { type Blocks, UniformAllgather } from './uniform-allgather.js'

/** The checked arguments of a rank's last call and how much of `into` it fills: the same arguments need no check again. */
export interface CheckedCall {
  readonly call: UniformAllgather
  readonly blocks: Blocks
  readonly neededElems: number
}

/** Larger buffers are checked every time, and not retained. */
const maxRetainedBytes = 65_536

/** Equal blocks, checked: slot i of the result will be the block of the i-th source. */
export function checkedAllgather(
  { state, rank }: CommSeat,
  neighborhood: Neighborhood,
  data: unknown,
  options: IntoOptions,
): CheckedCall {
  const name = 'neighborAllgather'
  requireOptions(name, options)
  const { type, elements } = contributionOf(name, data)
  const { into } = options
  const neededElems = neighborhood.slotsOf(rank) * elements.length
  checkInto(name, into, type, neededElems)
  const likely = state.collectives.reusableCall()
  const call =
    likely instanceof UniformAllgather && likely.fits(neighborhood, type, elements.length)
      ? likely
      : new UniformAllgather(neighborhood, type, elements.length)
  return { call, blocks: { elements, into }, neededElems }
}

/** Whether a later call passes the same arguments: arrays keep their length unless their buffer was detached. */
export function isRepeated(
  { call, blocks: { elements, into }, neededElems }: CheckedCall,
  data: unknown,
  options: IntoOptions,
): boolean {
  requireOptions('neighborAllgather', options)
  return (
    data === elements &&
    options.into === into &&
    elements.length === call.countElems &&
    (into === undefined || into.length >= neededElems)
  )
}

/** Whether a call is retained for the next. */
export function isRetained({ call, blocks: { elements, into } }: CheckedCall): boolean {
  return (
    call.countElems > 0 &&
    elements.byteLength <= maxRetainedBytes &&
    (into?.byteLength ?? 0) <= maxRetainedBytes
  )
}

/** What a rank contributes to a neighbor allgatherv. */
interface VaryingBlocks {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
  readonly options: BlocksOptions
}

/** Blocks of varying lengths; lengths are sent in the frames, so no rank needs to know them before. */
export function neighborAllgatherv(
  { state, localIndex }: CommSeat,
  neighborhood: Neighborhood,
  data: unknown,
  options: BlocksOptions = {},
): Promise<Gathered<TypedArray>> {
  const name = 'neighborAllgatherv'
  requireOptions(name, options)
  const { type, elements } = contributionOf(name, data)
  const { into } = options
  checkInto(name, into, type, 0)
  const call: CollectiveCall<VaryingBlocks, Gathered<TypedArray> | RankFailure> = {
    signature: { name, type },
    unplaced: neighborhood.isLocated,
    run: (blocks, exchange) => gatherVarying(neighborhood, type, blocks, exchange),
  }
  // The engine turns a refusal into a rejection with its error.
  const gathered = state.collectives.call(localIndex, call, { elements, into, options }, options)
  return gathered as Promise<Gathered<TypedArray>>
}

function gatherVarying(
  neighborhood: Neighborhood,
  type: number,
  blocks: readonly VaryingBlocks[],
  exchange: Exchange,
) {
  const { program, traffic } = neighborhood
  const views = blocks.map(({ elements }) => wordViewOf(elements))
  const ownWords = views.reduce((sum, { length }) => sum + length, 0)
  const store = BlockStore.open(program, elementSizeBytes(type), ownWords)
  for (const [v, words] of views.entries()) {
    store.extend(v, words.length)
    store.put(v, words)
  }
  runProgram(program, exchange, store, () => {
    countRun(traffic, program.counts)
    const counts = slotCounts(neighborhood, store, type)
    const layouts = blocks.map(({ options }, i) => receiveLayout(type, counts[i], options))
    const sizes = layouts.map(({ size }) => size)
    const buffers = receiveBuffers(type, sizes, (i) => layouts[i].into)
    const displsOf = layouts.map(({ displs }) => displs)
    fillSlots(program, store, buffers, varyingFill(program, displsOf, type))
    const results = buffers.results()
    exchange.finish(
      layouts.map(({ failure, displs }, i) => failure ?? { data: results[i], counts: counts[i], displs }),
    )
  })
  return undefined
}

/** Elements of every slot of every hosted rank; 0 where a grid has no neighbor. */
export function slotCounts(neighborhood: Neighborhood, store: BlockStore, type: number): Int32Array[] {
  const { ranks, fillStart, fillRank, fillSlot } = neighborhood.program
  const perElement = elementWords(type)
  const counts = Array.from(ranks, (rank) => new Int32Array(neighborhood.slotsOf(rank)))
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const count = store.length[v] / perElement
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) counts[fillRank[f]][fillSlot[f]] = count
  }
  return counts
}

/** Where slots begin that are `displs[i][slot]` elements into the buffer of the i-th hosted rank. */
export function varyingFill(
  { fillRank, fillSlot }: ProcessProgram,
  displs: readonly Int32Array[],
  type: number,
): Int32Array {
  const perElement = elementWords(type)
  return fillSlot.map((slot, f) => displs[fillRank[f]][slot] * perElement)
}

interface ReceiveLayout extends BlockLayout {
  readonly into: TypedArray | undefined
  /** The rank's counts or buffer did not fit: it fails alone, and its blocks go to a buffer that is dropped. */
  readonly failure?: RankFailure
}

function receiveLayout(type: number, arrived: Int32Array, options: BlocksOptions): ReceiveLayout {
  const name = 'neighborAllgatherv'
  try {
    const layout = blockLayout(name, arrived, options)
    checkInto(name, options.into, type, layout.size)
    return { ...layout, into: options.into }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return { ...blockLayout(name, arrived, {}), into: undefined, failure: new RankFailure(error) }
  }
}
