import { bytesOf } from '../base/bytes.js'
import type { CollectiveCall } from '../calls/collective-call.js'
import { copyOf, type Exchange } from '../calls/exchange.js'
import { allSent } from '../calls/exchange-patterns.js'
import { RankweaveError } from '../errors.js'
import type { WaitOptions } from '../messages/process/abort.js'
import type { CommState } from './comm-state.js'
import type { CommHandle, CommSeat } from './handle.js'

/** The context counter of the world, which `drawCounter` never returns. */
const worldCounter = 0

/** The handle of a rank that may free its communicator, whatever has become of that. */
export interface FreeableHandle extends CommHandle {
  /** Throws once it has been freed. */
  seatToFree(): CommSeat
  /** From now on `seat` throws. */
  markFreed(): void
}

/** Throws on invalid arguments; the method of the communicator turns that into a rejection. */
export function free(comm: FreeableHandle, options?: WaitOptions): Promise<void> {
  const { state, localIndex } = comm.seatToFree()
  const { ended } = state.runtime
  if (ended !== undefined) throw ended
  if (state.id.counter === worldCounter)
    throw new RankweaveError('ERR_ARGUMENT', 'free: the world cannot be freed; free what was made from it')
  comm.markFreed()
  if (state.freeIfFailed()) return Promise.resolve()
  const reusable = state.collectives.reusableCall()
  const call = reusable instanceof FreeCall ? reusable : new FreeCall(state)
  return state.collectives.call(localIndex, call, undefined, options)
}

const signature = { name: 'free' } as const
const noResults = [] as const
const nothing = new Uint8Array(0)
const step = { counts: 0, done: 1 } as const

/** One call and one promise for all ranks of a process, without a result. */
class FreeCall implements CollectiveCall<undefined, undefined> {
  readonly signature = signature
  readonly unplaced = true
  readonly shared = true
  // As when it is called afterwards: what it had to wait for fails.
  readonly isOverWhenRevoked = true
  readonly #state: CommState

  constructor(state: CommState) {
    this.#state = state
  }

  run(_: readonly undefined[], exchange: Exchange): readonly undefined[] | Promise<readonly undefined[]> {
    const { openedMatching, collectives } = this.#state
    // No other process knows it, and nothing of it is in flight here.
    if (exchange.count === 1 && openedMatching === undefined && collectives.isOnlyCall) return this.#forget()
    return this.#drain(exchange)
  }

  #forget(): readonly undefined[] {
    this.#state.runtime.dropContext(this.#state.id)
    return noResults
  }

  /** Forgets it when no frame of it is in flight to this process, and none will be sent. */
  async #drain(exchange: Exchange): Promise<readonly undefined[]> {
    const state = this.#state
    await state.collectives.whenOnlyCall()
    await state.openedMatching?.whenAddressed()
    const { arriving, messaged } = await exchangeCounts(state, exchange)
    if (arriving > 0) await state.matching.whenArrived(arriving)
    await state.openedMatching?.close()
    // This answer is the last frame that a peer sends, and frames between two processes keep their order.
    for (const peer of messaged) exchange.send(peer, step.done, nothing)
    for (const peer of messaged) await exchange.receive(peer, step.done)
    // Peers ask for what has been offered to them.
    await allSent(exchange)
    return this.#forget()
  }
}

interface Counts {
  /** Envelopes that all processes have sent to this one. */
  readonly arriving: number
  /** Peers that exchanged more with this process than collectives, which are complete. */
  readonly messaged: readonly number[]
}

/**
 * Every process reports to each other how many envelopes it sent there and whether it shares tables; empty if
 * neither.
 */
function exchangeCounts(state: CommState, exchange: Exchange): Promise<Counts> {
  const { me, count } = exchange
  const { sharesTables } = state
  const { openedMatching } = state
  const messaged: number[] = []
  let arriving = 0
  let missing = count - 1
  return new Promise((resolve) => {
    if (missing === 0) resolve({ arriving, messaged })
    for (let peer = 0; peer < count; peer++) {
      if (peer === me) continue
      const sent = openedMatching?.envelopes.sentTo(state.processes.processes.at(peer)) ?? 0
      const reports = sharesTables || sent > 0
      exchange.send(peer, step.counts, reports ? bytesOf(Float64Array.of(sent)) : nothing)
      exchange.take(peer, step.counts, (bytes) => {
        if (bytes.length > 0) arriving += new Float64Array(copyOf(bytes).buffer)[0]
        if (reports || bytes.length > 0) messaged.push(peer)
        if (--missing === 0) resolve({ arriving, messaged })
      })
    }
  })
}
