import { flagOption, type OptionTable } from '../../base/option.js'
import { checkOptions, withDefaults } from '../../base/option-table.js'
import { blocking, type Form } from '../../calls/collectives/collectives.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import { type RepeatedCalls, repeated } from '../../calls/collectives/together.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { gathered } from '../../calls/matching/collective-engine.js'
import type { CollectiveContext, CollectiveHandle } from '../../calls/plan/collective-plan.js'
import {
  type BoundProgram,
  type BoundStart,
  filled,
  type PersistentRequest,
  plannedRequest,
} from '../../calls/program/planned-call.js'
import { canPublish } from '../../calls/program/publication.js'
import type { CollectiveName } from '../../calls/signature.js'
import { copyWords, elementWords, wordViewOf } from '../../calls/values/block-store.js'
import { layoutOf } from '../../calls/values/deliver.js'
import { fillRankSlots, RankResults, UniformStore } from '../../calls/values/uniform-store.js'
import type { CommState } from '../../comm/comm-state.js'
import { RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  newArray,
  requireIntact,
  type TypedArray,
} from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import type { NeighborProgram } from '../plan/neighbor-program.js'
import { chosenNeighborhood, type NeighborHandle, type Neighborhood } from '../plan/neighborhood.js'
import {
  boundElements,
  checkedTune,
  checkInto,
  contributionOf,
  initOptions,
  NeighborCall,
  type NeighborInitOptions,
  NeighborRequest,
  tuneText,
} from './neighbor-call.js'
import { type BoundBlocks, publishedAllgather } from './published-allgather.js'
import { type BlockLayoutOptions, blockLayoutOptions, VaryingCall } from './varying-blocks.js'

/**
 * The checked arguments of a rank's last call, and how much of `into` it fills. The same arguments need no second
 * check.
 */
export interface CheckedCall {
  readonly call: NeighborAllgather
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
  const sources = neighborhood.slotsOf(rank)
  const neededElems = sources * elements.length
  checkInto(name, into, type, neededElems, sources)
  const chosen = neighborhood.forBlocks(elements.byteLength)
  const likely = state.collectives.reusableCall()
  const call =
    likely instanceof NeighborAllgather && likely.fits(chosen, type, elements.length)
      ? likely
      : new NeighborAllgather(chosen, name, type, elements.length)
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

interface Blocks {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
}

/** A loop is faster than `set` for so many elements, or fewer. */
const fewElems = 16

/**
 * A neighbor allgather of blocks of one length. Ranks with equal calls share the object, and so do consecutive calls.
 */
class NeighborAllgather extends NeighborCall<Blocks> {
  readonly countElems: number
  readonly #type: number
  readonly #results: RankResults

  /** @param method the options on which ranks agree besides */
  constructor(
    neighborhood: Neighborhood,
    name: CollectiveName,
    type: number,
    countElems: number,
    method: string | null = null,
  ) {
    super({ name, type, count: countElems, ...(method === null ? {} : { method }) }, neighborhood)
    this.#type = type
    this.countElems = countElems
    this.#results = new RankResults(type)
  }

  /** Whether this is the call of a rank with such a block. */
  fits(neighborhood: Neighborhood, type: number, countElems: number): boolean {
    return neighborhood === this.neighborhood && type === this.#type && countElems === this.countElems
  }

  get blockBytes(): number {
    return this.countElems * elementSizeBytes(this.#type)
  }

  override chosen(): Neighborhood | Promise<Neighborhood> {
    return chosenNeighborhood(this.neighborhood, this.blockBytes, 'neighbor-allgather')
  }

  override bindTo(by: Neighborhood, all: readonly Blocks[], init?: Exchange): BoundProgram {
    const plan = by.operation('neighbor-allgather')
    if (init !== undefined) return boundToBuffers(plan, this.#type, this.countElems, this.wordsOf(all))
    const store = plan.takeStore(this.#type, this.countElems)
    return {
      plan,
      store,
      isReusable: store.isReusable,
      fill: () => this.#fill(store, all),
      deliver: () => {
        const results: TypedArray[] = new Array(all.length)
        for (let i = 0; i < results.length; i++) {
          const size = by.slotsOf(plan.program.ranks[i]) * this.countElems
          results[i] = all[i].into ?? newArray(this.#type, size)
          this.#results.fill(plan.slots, i, store, results[i], size, !by.isGrid)
        }
        return results
      },
    }
  }

  #fill(store: UniformStore, all: readonly Blocks[]): void {
    const own = store.elements as Float64Array
    const count = this.countElems
    for (let v = 0; v < all.length; v++) {
      const elements = all[v].elements as Float64Array
      requireIntact(elements)
      if (count > fewElems) own.set(elements, v * count)
      else for (let e = 0; e < count; e++) own[v * count + e] = elements[e]
    }
  }

  /** Returns the memory of the buffers that ranks bind, and the words of a block. */
  wordsOf(all: readonly Blocks[]) {
    return {
      width: this.countElems * elementWords(this.#type),
      sends: all.map(({ elements }) => wordViewOf(elements)),
      receives: all.map(({ into }) => wordViewOf(into!)),
    }
  }
}

/** Binds the memory of buffers, so that a start makes no view of them. */
function boundToBuffers(
  plan: NeighborProgram,
  type: number,
  countElems: number,
  { sends, receives }: Pick<BoundBlocks, 'sends' | 'receives'>,
): BoundProgram {
  const { program, slots } = plan
  const store = new UniformStore(program, type, countElems)
  return {
    plan,
    store,
    fill() {
      const { words, width } = store
      for (let v = 0; v < sends.length; v++) {
        requireIntact(sends[v])
        copyWords(sends[v], 0, words, v * width, width)
      }
    },
    deliver() {
      for (let i = 0; i < receives.length; i++) fillRankSlots(slots, i, store, receives[i])
      return filled
    },
  }
}

/** Options of a persistent neighbor allgather. */
export interface AllgatherInitOptions extends NeighborInitOptions {
  /**
   * Replaces direct sends if all processes of the communicator share memory: every process writes its blocks there once
   * per start, and neighbors read them. Otherwise, and if a process has no such memory left, blocks are sent. Default:
   * if processes share cores and the strategy is direct or the library's to choose, for blocks of up to 16 KiB.
   */
  readonly sharedMemory?: boolean
}

/** The longest block that is in shared memory by default; two blocks of each rank are retained. */
const mostPublishedBytes = 16_384

/** The text that ranks compare: those that pass other options are a mismatch. */
const publishedText = 'sharedMemory'

export function neighborAllgatherInit(
  comm: NeighborHandle,
  send: unknown,
  recv: unknown,
  options: AllgatherInitOptions = {},
): NeighborRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAllgatherInit'
  const { tune, sharedMemory } = checkedInit(name, neighborhood, options)
  const { type, elements, into } = boundElements(name, send, recv)
  const sources = neighborhood.slotsOf(seat.rank)
  checkInto(name, into, type, sources * elements.length, sources)
  const method = sharedMemory === true ? publishedText : tune === null ? null : tuneText(tune)
  const call = new NeighborAllgather(neighborhood, name, type, elements.length, method)
  const published = async (all: readonly Blocks[], exchange: Exchange): Promise<BoundStart | null> => {
    const { blockBytes } = call
    const isPublished =
      sharedMemory ?? (tune === null && isBetterPublished(seat.state, neighborhood, blockBytes))
    if (!isPublished || neighborhood.isLocated || !canPublish(seat.state)) return null
    const direct = neighborhood.by({ kind: 'direct' })
    const bound = { blockBytes, ...call.wordsOf(all) }
    return publishedAllgather(seat.state, direct, call.signature, bound, exchange)
  }
  return NeighborRequest.of(seat, call, [elements, into], { elements, into }, tune, {
    operation: 'neighbor-allgather',
    bytesOf: () => call.blockBytes,
    insteadOfProgram: published,
  })
}

const allgatherInitOptions = {
  ...initOptions,
  sharedMemory: flagOption(),
} satisfies OptionTable<AllgatherInitOptions>

/**
 * Whether blocks are read in place although no option demands it. A process must get a core to handle a frame, but not
 * for neighbors to read its memory.
 */
function isBetterPublished(
  { runtime }: CommState,
  { isAuto, strategy }: Neighborhood,
  blockBytes: number,
): boolean {
  const mayBePublished = isAuto || strategy.kind === 'direct'
  return mayBePublished && runtime.fabric.isOversubscribed === true && blockBytes <= mostPublishedBytes
}

/** Returns the options with defaults. @throws ERR_ARGUMENT; ERR_STRATEGY if blocks are not sent directly */
function checkedInit(name: string, neighborhood: Neighborhood, options: AllgatherInitOptions) {
  checkOptions(name, allgatherInitOptions, options)
  const { sharedMemory, ...others } = withDefaults(allgatherInitOptions, options)
  const tune = checkedTune(name, neighborhood, others)
  if (sharedMemory && tune !== null)
    throw new RankweaveError('ERR_ARGUMENT', `${name}: expected either tune or sharedMemory`)
  const { isAuto, strategy } = neighborhood
  if (sharedMemory && !isAuto && strategy.kind !== 'direct') {
    const message = `${name}: sharedMemory is another way to send directly: expected strategy direct or auto, got ${strategy.kind}`
    throw new RankweaveError('ERR_STRATEGY', message)
  }
  return { tune, sharedMemory }
}

/** Options of neighborhood collectives that receive blocks of varying lengths. */
export interface NeighborBlocksOptions<I extends TypedArray = TypedArray>
  extends IntoOptions<I>,
    BlockLayoutOptions {}

export const neighborBlocksOptions: OptionTable<NeighborBlocksOptions> = {
  ...intoOptions,
  ...blockLayoutOptions,
}

/** Gathers blocks of varying lengths. */
export function neighborAllgatherv<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  neighborhood: Neighborhood,
  data: unknown,
  options?: NeighborBlocksOptions,
): R {
  const name = 'neighborAllgatherv'
  return form.attempt(comm, name, neighborBlocksOptions, options, (seat) => {
    const { type, given } = varyingOf(name, neighborhood, seat.rank, data, options)
    const call = new VaryingCall(neighborhood, 'neighbor-allgather', name, type)
    return form.join(seat, call, given, options)
  })
}

export function neighborAllgathervInit(
  comm: NeighborHandle,
  send: unknown,
  recv: unknown,
  options: BlockLayoutOptions = {},
): PersistentRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAllgathervInit'
  checkOptions(name, blockLayoutOptions, options)
  const { elements, into } = boundElements(name, send, recv)
  const { type, given } = varyingOf(name, neighborhood, seat.rank, elements, { ...options, into })
  const call = new VaryingCall(neighborhood, 'neighbor-allgather', name, type)
  return plannedRequest(seat, call, [elements, into], given)
}

/** @throws ERR_TYPE, ERR_TYPE_MISMATCH for arrays, ERR_COUNT for lists */
function varyingOf(
  name: string,
  neighborhood: Neighborhood,
  rank: number,
  data: unknown,
  options: NeighborBlocksOptions | undefined,
) {
  const { type, elements } = contributionOf(name, data)
  checkInto(name, options?.into, type, 0)
  const layout = layoutOf(name, options, neighborhood.slotsOf(rank), 'source')
  const blocks = { type, elements, starts: Int32Array.of(0), counts: Int32Array.of(elements.length) }
  return { type, given: { blocks, layout } }
}
