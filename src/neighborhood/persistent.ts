import type { CollectiveCall, Exchange, Signature } from '../comm/collective-engine.js'
import type { CommState } from '../comm/comm-state.js'
import type { Communicator, Seat } from '../comm/communicator.js'
import { elementSizeBytes, typeCode } from '../comm/datatype.js'
import type { TypedArray, WaitOptions } from '../comm/types.js'
import { RankweaveError } from '../errors.js'
import { evenFill, slotCounts, variedFill } from './allgather.js'
import { requireOptions } from './arguments.js'
import { type BlockWishes, blockLayout } from './block-layout.js'
import { BlockStore } from './block-store.js'
import { checkInto, contributionOf, elementWords } from './buffers.js'
import { fillSlots, runProgram } from './executor.js'
import type { Neighborhood } from './neighborhood.js'
import { type Words, wordsOf } from './words.js'

/**
 * A neighbor allgather that is set up once and started often, always with the buffers it was set up with (MPI-4.1
 * §8.8). Every rank starts it the same number of times; one start may be active at a time.
 *
 * **Buffers.** From `start` until its promise resolves do not change the send buffer, nor read the receive buffer.
 */
export class NeighborRequest {
  readonly #handle: Communicator
  readonly #bound: Promise<BoundAllgather>
  #active = false
  #freed = false

  /** @internal */
  constructor(handle: Communicator, bound: Promise<BoundAllgather>) {
    this.#handle = handle
    this.#bound = bound
    // A failed setup is reported by every start, and must not end the program before.
    bound.catch(() => {})
  }

  /**
   * Runs the exchange once; resolves when the receive buffer is filled.
   *
   * @throws ERR_REQUEST while the start before is active, and after `free`
   */
  async start(options?: WaitOptions): Promise<void> {
    if (this.#freed) throw new RankweaveError('ERR_REQUEST', 'start: this persistent request has been freed')
    if (this.#active) {
      throw new RankweaveError('ERR_REQUEST', 'start: expected the start before to have ended, it is active')
    }
    this.#active = true
    try {
      const bound = await this.#bound
      const { state, localIndex } = this.#handle.seat()
      await state.collectives.start(bound.lane, localIndex, bound.call, undefined, options)
    } finally {
      this.#active = false
    }
  }

  /**
   * Gives the request back. Local.
   *
   * @throws ERR_REQUEST while a start is active, and when it was freed before
   */
  free(): void {
    if (this.#freed || this.#active) {
      const why = this.#freed ? 'was freed before' : 'is active'
      throw new RankweaveError('ERR_REQUEST', `free: this persistent request ${why}`)
    }
    this.#freed = true
    this.#bound.then((bound) => bound.release()).catch(() => {})
  }
}

/** What a rank binds to a persistent allgather. */
interface Buffers {
  readonly send: TypedArray
  readonly recv: TypedArray
  readonly wishes: BlockWishes
}

/** A persistent allgather in one process: buffers of all its ranks, and memory that every start reuses. */
class BoundAllgather {
  readonly lane: number
  readonly call: CollectiveCall<undefined, undefined>
  readonly #state: CommState
  #holders: number

  /** @param signature what starts compare: the init itself need not have met every neighbor */
  constructor(
    state: CommState,
    exchange: Exchange,
    signature: Signature,
    run: (exchange: Exchange) => Promise<void> | undefined,
  ) {
    this.#state = state
    this.#holders = state.localRanks.length
    this.lane = state.collectives.openLane(exchange)
    this.call = {
      signature,
      shared: true,
      run: (_, startExchange) => run(startExchange)?.then(() => nothing) ?? nothing,
    }
  }

  /** One rank gives up its request. */
  release(): void {
    if (--this.#holders === 0) this.#state.collectives.closeLane(this.lane)
  }
}

const nothing = [undefined] as const

export function neighborAllgatherInit(
  seat: Seat,
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
    run: (buffers, exchange) => {
      const { program } = neighborhood
      const width = count * elementWords(type)
      const store = BlockStore.even(elementSizeBytes(type), program.valueBlock.length, width)
      const bound = bind(
        seat.state,
        exchange,
        signature,
        neighborhood,
        buffers,
        store,
        evenFill(program.fillSlot, width),
      )
      return buffers.map(() => bound)
    },
  }
  return requestOf(seat, call, { send: elements, recv: recv as TypedArray, wishes: {} })
}

export function neighborAllgathervInit(
  seat: Seat,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
  wishes: BlockWishes,
): NeighborRequest {
  const name = 'neighborAllgathervInit'
  requireOptions(name, wishes)
  const { type, elements } = contributionOf(name, send)
  checkBound(name, send, recv)
  checkInto(name, recv, type, 0)
  const signature: Signature = { name: 'neighborAllgatherInit', type }
  const call: CollectiveCall<Buffers, BoundAllgather> = {
    signature,
    run: async (buffers, exchange) => {
      const { program } = neighborhood
      const lengths = await exchangeLengths(neighborhood, buffers, exchange)
      const store = BlockStore.of(elementSizeBytes(type), lengths)
      const counts = slotCounts(neighborhood, store, type)
      const displs = buffers.map(({ recv: into, wishes: wanted }, i) => {
        const layout = blockLayout(name, counts[i], wanted)
        checkInto(name, into, type, layout.size)
        return layout.displs
      })
      const bound = bind(
        seat.state,
        exchange,
        signature,
        neighborhood,
        buffers,
        store,
        variedFill(program, displs, type),
      )
      return buffers.map(() => bound)
    },
  }
  return requestOf(seat, call, { send: elements, recv: recv as TypedArray, wishes })
}

function requestOf(
  { state, localIndex, handle }: Seat,
  call: CollectiveCall<Buffers, BoundAllgather>,
  buffers: Buffers,
): NeighborRequest {
  return new NeighborRequest(handle, state.collectives.call(localIndex, call, buffers))
}

/** A strided view would be packed once, not at every start. */
function checkBound(name: string, send: unknown, recv: unknown): void {
  if (ArrayBuffer.isView(send) && recv !== undefined && recv !== null) return
  throw new RankweaveError('ERR_TYPE', `${name}: expected typed arrays to send from and to receive into`)
}

/** Words of every value, by running the program once with the lengths as blocks. */
async function exchangeLengths(
  neighborhood: Neighborhood,
  buffers: readonly Buffers[],
  exchange: Exchange,
): Promise<Int32Array> {
  const { program, traffic } = neighborhood
  const store = BlockStore.even(elementSizeBytes(typeCode.Int32Array), program.valueBlock.length, 1)
  for (const [v, { send }] of buffers.entries()) store.put(v, v + 1, Int32Array.of(wordsOf(send).length))
  await runProgram(program, exchange, store, traffic)
  return store.words as Int32Array
}

function bind(
  state: CommState,
  exchange: Exchange,
  signature: Signature,
  { program, traffic }: Neighborhood,
  buffers: readonly Buffers[],
  store: BlockStore,
  fillTo: Int32Array,
): BoundAllgather {
  const sends: Words[] = buffers.map(({ send }) => wordsOf(send))
  const receives = { words: buffers.map(({ recv }) => wordsOf(recv)), base: new Int32Array(buffers.length) }
  const finish = () => fillSlots(program, store, receives, fillTo)
  return new BoundAllgather(state, exchange, signature, (startExchange) => {
    for (let v = 0; v < sends.length; v++) store.put(v, v + 1, sends[v])
    const running = runProgram(program, startExchange, store, traffic)
    if (running !== undefined) return running.then(finish)
    finish()
    return undefined
  })
}
