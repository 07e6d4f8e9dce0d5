import { promiseTry } from '../../base/promise-try.js'
import { requireOptions } from '../../base/require-options.js'
import type { CollectiveCall } from '../../comm/calls/collective-call.js'
import type { Exchange } from '../../comm/calls/exchange.js'
import type { ProgramStore } from '../../comm/calls/program/program-store.js'
import { ProgramRun, runProgram } from '../../comm/calls/program/run-program.js'
import type { Signature } from '../../comm/calls/signature.js'
import type { CommState } from '../../comm/context/comm-state.js'
import type { CommHandle, CommSeat } from '../../comm/context/handle.js'
import { elementSizeBytes, type TypedArray, typeCode } from '../../comm/datatype/elements.js'
import type { WaitOptions } from '../../comm/process/wait-options.js'
import { RankweaveError } from '../../errors.js'
import { type BlockLayoutOptions, blockLayout } from './block-layout.js'
import { BlockStore } from './block-store.js'
import { checkInto, contributionOf } from './buffers.js'
import { fillSlots } from './fill-slots.js'
import { copyWords, wordViewOf } from './memory-words.js'
import { slotCounts, varyingFill } from './neighbor-allgather.js'
import { countRun } from './neighbor-traffic.js'
import type { Neighborhood } from './neighborhood.js'
import { fillRankSlots, UniformStore } from './uniform-store.js'

/**
 * A persistent neighbor allgather: bound once to its buffers and started often (MPI-4.1 §8.8). Every rank starts it the
 * same number of times; one start may be active at a time.
 *
 * **Buffers.** From `start` until its promise resolves, do not change the send buffer or read the receive buffer.
 */
export class NeighborRequest {
  readonly #handle: CommHandle
  readonly #setup: Promise<BoundAllgather>
  /** Defined once the setup has completed. */
  #bound: BoundAllgather | undefined
  /** The previous start, if it was shared with the other ranks of the process. */
  #shared: Promise<void> | undefined
  /** A start that is not shared is active. */
  #startedSeparately = false
  #freed = false

  /** Not for users: these requests come from `neighborAllgatherInit` and `neighborAllgathervInit`. */
  constructor(handle: CommHandle, setup: Promise<BoundAllgather>) {
    this.#handle = handle
    this.#setup = setup
    // A failed setup is reported by every start; it must not be an unhandled rejection before.
    setup.then(
      (bound) => {
        this.#bound = bound
      },
      () => {},
    )
  }

  /**
   * Runs the exchange once; resolves when the receive buffer is filled.
   *
   * @throws ERR_REQUEST while the previous start is active, and after `free`
   */
  start(options?: WaitOptions): Promise<void> {
    return promiseTry(() => {
      if (this.#freed) {
        throw new RankweaveError('ERR_REQUEST', 'start: this persistent request has been freed')
      }
      if (this.#isActive) {
        throw new RankweaveError(
          'ERR_REQUEST',
          'start: expected the previous start to have completed, it is active',
        )
      }
      if (this.#bound === undefined || options?.signal !== undefined) return this.#startSeparately(options)
      const { state, localIndex } = this.#handle.seat()
      this.#shared = this.#bound.start(state, localIndex)
      return this.#shared
    })
  }

  /**
   * Frees the request. Local.
   *
   * @throws ERR_REQUEST while a start is active, and for a request that was freed before
   */
  free(): void {
    if (this.#freed || this.#isActive) {
      const why = this.#freed ? 'was freed before' : 'is active'
      throw new RankweaveError('ERR_REQUEST', `free: this persistent request ${why}`)
    }
    this.#freed = true
    this.#setup.then((bound) => bound.release()).catch(() => {})
  }

  get #isActive(): boolean {
    return this.#startedSeparately || (this.#shared !== undefined && this.#shared === this.#bound?.running)
  }

  /** A start that waits for the setup, or that a signal may abort. */
  async #startSeparately(options: WaitOptions | undefined): Promise<void> {
    this.#startedSeparately = true
    try {
      const bound = await this.#setup
      const { state, localIndex } = this.#handle.seat()
      await state.collectives.start(bound.lane, localIndex, bound.call, undefined, options)
    } finally {
      this.#startedSeparately = false
    }
  }
}

/** What a rank binds to a persistent allgather. */
interface Buffers {
  readonly send: TypedArray
  readonly recv: TypedArray
  readonly layoutOptions: BlockLayoutOptions
}

/** How a persistent allgather moves blocks between its values and the buffers of the ranks. */
interface BoundStore {
  readonly store: ProgramStore
  /** Copies what the ranks contribute into the store. */
  fill(): void
  /** Copies values into the receive buffers. */
  deliver(): void
}

/** A persistent allgather in one process: the buffers of all its ranks, and memory that every start reuses. */
class BoundAllgather {
  readonly lane: number
  readonly call: CollectiveCall<undefined, undefined>
  /** The start in progress, which the ranks of the process share; undefined again before any of them continues. */
  running: Promise<void> | undefined
  readonly #state: CommState
  #holders: number
  /** Of the start in progress. */
  #exchange: Exchange | undefined

  /** @param signature compared by every start, because the init itself may not have exchanged a frame with every neighbor */
  constructor(
    state: CommState,
    exchange: Exchange,
    signature: Signature,
    { program, traffic }: Neighborhood,
    bound: BoundStore,
  ) {
    this.#state = state
    this.#holders = state.localRanks.length
    this.lane = state.collectives.openLane(exchange)
    const run = new ProgramRun(program)
    const done = (): void => {
      countRun(traffic, program.counts)
      bound.deliver()
      this.#exchange!.finish(nothing)
    }
    this.call = {
      signature,
      shared: true,
      // The init has lowered the plan.
      unplaced: true,
      run: (_, startExchange) => {
        this.#exchange = startExchange
        bound.fill()
        run.start(startExchange, bound.store, done)
        return undefined
      },
    }
  }

  start(state: CommState, localIndex: number): Promise<void> {
    const started: Promise<void> = state.collectives.start(this.lane, localIndex, this.call, undefined)
    if (started !== this.running) {
      this.running = started
      const ended = () => {
        if (this.running === started) this.running = undefined
      }
      started.then(ended, ended)
    }
    return started
  }

  /** One rank has freed its request. */
  release(): void {
    if (--this.#holders === 0) this.#state.collectives.closeLane(this.lane)
  }
}

const nothing = [undefined] as const

export function neighborAllgatherInit(
  seat: CommSeat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
): NeighborRequest {
  const name = 'neighborAllgatherInit'
  const { type, elements } = contributionOf(name, send)
  checkBound(name, send, recv)
  const count = elements.length
  checkInto(name, recv, type, neighborhood.slotsOf(seat.rank) * count)
  const signature: Signature = { name, type, count }
  const call: CollectiveCall<Buffers, BoundAllgather> = {
    signature,
    unplaced: neighborhood.isLocated,
    run: (buffers, exchange) => {
      const { program, slots } = neighborhood
      const store = new UniformStore(program, type, elementSizeBytes(type), count)
      const sends = buffers.map((bound) => wordViewOf(bound.send))
      const receives = buffers.map((bound) => wordViewOf(bound.recv))
      const bound = new BoundAllgather(seat.state, exchange, signature, neighborhood, {
        store,
        fill() {
          const { words, width } = store
          for (let v = 0; v < sends.length; v++) copyWords(sends[v], 0, words, v * width, width)
        },
        deliver() {
          for (let i = 0; i < receives.length; i++) fillRankSlots(slots, i, store, receives[i])
        },
      })
      return buffers.map(() => bound)
    },
  }
  return requestOf(seat, call, { send: elements, recv: recv as TypedArray, layoutOptions: {} })
}

export function neighborAllgathervInit(
  seat: CommSeat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
  layoutOptions: BlockLayoutOptions,
): NeighborRequest {
  const name = 'neighborAllgathervInit'
  requireOptions(name, layoutOptions)
  const { type, elements } = contributionOf(name, send)
  checkBound(name, send, recv)
  checkInto(name, recv, type, 0)
  const signature: Signature = { name: 'neighborAllgatherInit', type }
  const call: CollectiveCall<Buffers, BoundAllgather> = {
    signature,
    unplaced: neighborhood.isLocated,
    run: async (buffers, exchange) => {
      const { program } = neighborhood
      const lengths = await exchangeLengths(neighborhood, buffers, exchange)
      const store = BlockStore.of(program, elementSizeBytes(type), lengths)
      const counts = slotCounts(neighborhood, store, type)
      const displs = buffers.map(({ recv: into, layoutOptions: wanted }, i) => {
        const layout = blockLayout(name, counts[i], wanted)
        checkInto(name, into, type, layout.size)
        return layout.displs
      })
      const sends = buffers.map((bound) => wordViewOf(bound.send))
      const receives = {
        words: buffers.map((bound) => wordViewOf(bound.recv)),
        base: new Int32Array(buffers.length),
      }
      const fillTo = varyingFill(program, displs, type)
      const bound = new BoundAllgather(seat.state, exchange, signature, neighborhood, {
        store,
        fill() {
          for (let v = 0; v < sends.length; v++) store.put(v, sends[v])
        },
        deliver() {
          fillSlots(program, store, receives, fillTo)
        },
      })
      return buffers.map(() => bound)
    },
  }
  return requestOf(seat, call, { send: elements, recv: recv as TypedArray, layoutOptions })
}

function requestOf(
  { state, localIndex, handle }: CommSeat,
  call: CollectiveCall<Buffers, BoundAllgather>,
  buffers: Buffers,
): NeighborRequest {
  return new NeighborRequest(handle, state.collectives.call(localIndex, call, buffers))
}

/** Rejects strided views: they would be packed once, not at every start. */
function checkBound(name: string, send: unknown, recv: unknown): void {
  if (ArrayBuffer.isView(send) && recv !== undefined && recv !== null) return
  throw new RankweaveError('ERR_TYPE', `${name}: expected typed arrays to send from and to receive into`)
}

/** Words of every value, by running the program once with the lengths as blocks. */
async function exchangeLengths(
  { program, traffic }: Neighborhood,
  buffers: readonly Buffers[],
  exchange: Exchange,
): Promise<Int32Array> {
  const store = new UniformStore(program, typeCode.Int32Array, elementSizeBytes(typeCode.Int32Array), 1)
  for (const [v, { send }] of buffers.entries()) store.words[v] = wordViewOf(send).length
  await new Promise<void>((resolve) => runProgram(program, exchange, store, resolve))
  countRun(traffic, program.counts)
  return store.words as Int32Array
}
