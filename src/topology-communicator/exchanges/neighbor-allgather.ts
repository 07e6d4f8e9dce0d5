import type { OptionTable } from '../../base/option.js'
import { blocking, type Form, type Handle } from '../../calls/collectives/form.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import { type RepeatedCalls, repeated } from '../../calls/collectives/together.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall, RankFailure } from '../../calls/matching/collective-call.js'
import { gathered } from '../../calls/matching/collective-engine.js'
import type { CollectiveContext } from '../../calls/plan/collective-plan.js'
import { runProgram } from '../../calls/program/run-program.js'
import type { Signature } from '../../calls/signature.js'
import { type Layout, layoutOf } from '../../calls/values/deliver.js'
import type { Gathered } from '../../calls/values/placement.js'
import {
  elementSizeBytes,
  newArray,
  requireIntact,
  type TypedArray,
} from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import { deliverVarying } from '../execute/deliver-varying.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { NeighborHandle, Neighborhood } from '../execute/neighborhood.js'
import { BlockStore } from '../memory/block-store.js'
import {
  type BlockLayoutOptions,
  blockLayoutOptions,
  checkInto,
  contributionOf,
  wordViewOf,
} from '../memory/buffers.js'
import { RankResults } from '../memory/slot-list.js'
import { SpareRun, UniformStore } from '../memory/uniform-store.js'

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
interface GatheringHandle extends NeighborHandle {
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

interface Blocks {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
}

/** A loop is faster than `set` for so many elements, or fewer. */
const fewElems = 16

/**
 * A neighbor allgather of blocks of one length, in one process. Ranks with equal calls share the object, and
 * so do consecutive calls: it retains the memory that a run needs.
 */
class UniformAllgather implements CollectiveCall<Blocks, TypedArray> {
  readonly signature: Signature
  readonly unplaced: boolean
  readonly #neighborhood: Neighborhood
  readonly #type: number
  readonly countElems: number
  readonly #results: RankResults
  readonly #spare = new SpareRun<UniformStore>()

  /** @param type wire code of the elements */
  constructor(neighborhood: Neighborhood, type: number, countElems: number) {
    this.signature = { name: 'neighborAllgather', type, count: countElems }
    this.unplaced = neighborhood.isLocated
    this.#neighborhood = neighborhood
    this.#type = type
    this.countElems = countElems
    this.#results = new RankResults(type)
  }

  /** Whether this is the call of a rank with such a block. */
  fits(neighborhood: Neighborhood, type: number, countElems: number): boolean {
    return neighborhood === this.#neighborhood && type === this.#type && countElems === this.countElems
  }

  run(blocks: readonly Blocks[], exchange: Exchange): undefined {
    const { program, traffic } = this.#neighborhood
    const type = this.#type
    const memory = this.#spare.take(
      program,
      type,
      this.countElems,
      () => new UniformStore(program, type, elementSizeBytes(type), this.countElems),
    )
    const { run, store } = memory
    const own = store.elements as Float64Array
    const count = this.countElems
    for (let v = 0; v < blocks.length; v++) {
      const elements = blocks[v].elements as Float64Array
      requireIntact(elements)
      if (count > fewElems) own.set(elements, v * count)
      else for (let e = 0; e < count; e++) own[v * count + e] = elements[e]
    }
    run.start(exchange, store, () => {
      countRun(traffic, program.counts)
      const results: TypedArray[] = new Array(blocks.length)
      for (let i = 0; i < blocks.length; i++) results[i] = this.#result(store, i, blocks[i].into)
      this.#spare.put(memory, exchange)
      exchange.finish(results)
    })
    return undefined
  }

  #result(store: UniformStore, index: number, into: TypedArray | undefined): TypedArray {
    const { program, slots, isGrid } = this.#neighborhood
    const size = this.#neighborhood.slotsOf(program.ranks[index]) * this.countElems
    const target = into ?? newArray(this.#type, size)
    this.#results.fill(slots, index, store, target, size, !isGrid)
    return target
  }
}
