import type { OptionTable } from '../../base/option.js'
import { blocking, type Form, type Handle } from '../../calls/collectives/form.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import { type RepeatedCalls, repeated } from '../../calls/collectives/together.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall, RankFailure } from '../../calls/matching/collective-call.js'
import { gathered } from '../../calls/matching/collective-engine.js'
import type { CollectiveContext } from '../../calls/plan/collective-plan.js'
import { runProgram } from '../../calls/program/run-program.js'
import { type Layout, layoutOf } from '../../calls/values/deliver.js'
import type { Gathered } from '../../calls/values/placement.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import { deliverVarying } from '../execute/deliver-varying.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { NeighborHandle, Neighborhood } from '../execute/neighborhood.js'
import { type BlockLayoutOptions, blockLayoutOptions } from '../memory/block-layout.js'
import { BlockStore } from '../memory/block-store.js'
import { checkInto, contributionOf } from '../memory/buffers.js'
import { wordViewOf } from '../memory/memory-words.js'
import { type Blocks, UniformAllgather } from './uniform-allgather.js'

/**
 * The checked arguments of a rank's last call, and how much of `into` it fills. The same arguments need no second
 * check.
 */
export interface CheckedCall {
  readonly call: UniformAllgather
  readonly blocks: Blocks
  readonly neededElems: number
  /** The options whose names have been checked. */
  readonly options: IntoOptions | undefined
}

/** Larger buffers are checked every time and not retained. */
const maxRetainedBytes = 65_536

/** The handle of a rank, which retains the arguments of its last call. */
export interface GatheringHandle extends NeighborHandle {
  lastAllgather: CheckedCall | undefined
}

/** Gathers equal blocks: slot i of the result is the block of the i-th source. */
export function neighborAllgather<R>(
  form: Form<R>,
  comm: GatheringHandle,
  data: unknown,
  options?: IntoOptions,
): R {
  if (repeated !== undefined && form === blocking && takesRepeated(repeated, comm, data, options))
    return gathered as R
  return startAllgather(form, comm, data, options)
}

function startAllgather<R>(form: Form<R>, comm: GatheringHandle, data: unknown, options?: IntoOptions): R {
  return form.attempt(comm, 'neighborAllgather', intoOptions, options, (seat) => {
    let checked = comm.lastAllgather
    if (checked === undefined || !isRepeated(checked, data, options)) {
      checked = checkedAllgather(seat, comm.neighborhood, data, options)
      comm.lastAllgather = isRetained(checked) ? checked : undefined
    }
    return form.join(seat, checked.call, checked.blocks, options)
  })
}

function checkedAllgather(
  { state, rank }: Seat<CollectiveContext>,
  neighborhood: Neighborhood,
  data: unknown,
  options: IntoOptions | undefined,
): CheckedCall {
  const name = 'neighborAllgather'
  const { type, elements } = contributionOf(name, data)
  const into = options?.into
  const neededElems = neighborhood.slotsOf(rank) * elements.length
  checkInto(name, into, type, neededElems)
  const chosen = neighborhood.forBlocks(elements.byteLength)
  const likely = state.collectives.reusableCall()
  const call =
    likely instanceof UniformAllgather && likely.fits(chosen, type, elements.length)
      ? likely
      : new UniformAllgather(chosen, type, elements.length)
  return { call, blocks: { elements, into }, neededElems, options }
}

/** Tells whether a rank that calls together with the others here repeats its last arguments, options included. */
function takesRepeated(
  repeated: RepeatedCalls,
  comm: GatheringHandle,
  data: unknown,
  options: IntoOptions | undefined,
): boolean {
  const checked = comm.lastAllgather
  return (
    checked !== undefined &&
    options === checked.options &&
    options?.signal === undefined &&
    isRepeated(checked, data, options) &&
    repeated.take(comm, checked.call, checked.blocks)
  )
}

/** Whether a later call passes the same arguments. Arrays keep their length unless their buffer was detached. */
function isRepeated(
  { call, blocks: { elements, into }, neededElems }: CheckedCall,
  data: unknown,
  options: IntoOptions | undefined,
): boolean {
  return (
    data === elements &&
    options?.into === into &&
    elements.length === call.countElems &&
    (into === undefined || into.length >= neededElems)
  )
}

function isRetained({ call, blocks: { elements, into } }: CheckedCall): boolean {
  return (
    call.countElems > 0 &&
    elements.byteLength <= maxRetainedBytes &&
    (into?.byteLength ?? 0) <= maxRetainedBytes
  )
}

interface VaryingBlocks {
  readonly elements: TypedArray
  readonly layout: Layout
}

/** Options of neighborhood collectives that receive blocks of varying lengths. */
export interface NeighborBlocksOptions<I extends TypedArray = TypedArray>
  extends IntoOptions<I>,
    BlockLayoutOptions {}

export const neighborBlocksOptions: OptionTable<NeighborBlocksOptions> = {
  ...intoOptions,
  ...blockLayoutOptions,
}

/** Gathers blocks of varying lengths. Frames carry the lengths, so no rank needs to know them before. */
export function neighborAllgatherv<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  options?: NeighborBlocksOptions,
): R {
  const name = 'neighborAllgatherv'
  return form.attempt(comm, name, neighborBlocksOptions, options, (seat) => {
    const { type, elements } = contributionOf(name, data)
    checkInto(name, options?.into, type, 0)
    const layout = layoutOf(name, options, neighborhood.slotsOf(seat.rank), 'source')
    const call: CollectiveCall<VaryingBlocks, Gathered<TypedArray> | RankFailure> = {
      signature: { name, type },
      unplaced: neighborhood.isLocated,
      run: (blocks, exchange) => gatherVarying(neighborhood.forBlocks(null), type, blocks, exchange),
    }
    return form.join(seat, call, { elements, layout }, options)
  })
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
    const wanted = blocks.map(({ layout }) => layout)
    exchange.finish(deliverVarying('neighborAllgatherv', neighborhood, program, store, type, wanted))
  })
  return undefined
}
