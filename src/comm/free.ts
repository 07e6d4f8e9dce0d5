import { requireWaitOptions, type WaitOptions } from '../base/abort.js'
import { bytesOf } from '../base/bytes.js'
import { allSent, type Exchange } from '../calls/exchange/exchange.js'
import type { CollectiveCall } from '../calls/matching/collective-call.js'
import { RankweaveError } from '../errors.js'
import type { CommHandle, CommSeat, CommState } from './comm-state.js'

/** The context counter of the world, which `drawCounter` never returns. */
const worldCounter = 0

/** The handle of a rank that may free its communicator, whatever its state. */
export interface FreeableHandle extends CommHandle {
  /** Returns the seat; throws once the handle has been freed. */
  seatToFree(): CommSeat
  /** Marks the handle as freed, so that `seat` throws. */
  markFreed(): void
}

/** Throws on invalid arguments; the method of the communicator turns that into a rejection. */
export function free(comm: FreeableHandle, options?: WaitOptions): Promise<void> {
  const { state, localIndex } = comm.seatToFree()
  const { ended } = state.runtime
  if (ended !== undefined) throw ended
  if (state.id.counter === worldCounter)
    throw new RankweaveError('ERR_ARGUMENT', 'free: the world cannot be freed; free what was made from it')
  requireWaitOptions('free', options)
  comm.markFreed()
  if (state.freeIfFailed()) return Promise.resolve()
  const reusable = state.collectives.reusableCall()
  const call = reusable instanceof FreeCall ? reusable : new FreeCall(state)
  return state.collectives.call(localIndex, call, undefined, options)
}

const signature = { name: 'free' } as const
const noResults = [] as const
const nothing = new Uint8Array(0)
/** The steps of the call; counts take a step per round. */
const step = { done: 0, counts: 1 } as const

/** A free: one call and one promise for all ranks of a process, without a result. */
class FreeCall implements CollectiveCall<undefined, undefined> {
  readonly signature = signature
  readonly unplaced = true
  readonly shared = true
  // A revocation completes the call, as if it had come before: the operations for which it waits fail.
  readonly isOverWhenRevoked = true
  readonly #state: CommState

  constructor(state: CommState) {
    this.#state = state
  }

  run(_: readonly undefined[], exchange: Exchange): readonly undefined[] | Promise<readonly undefined[]> {
    const { openedMatching, collectives } = this.#state
    // No other process knows the communicator, and nothing of it is in flight here.
    if (exchange.count === 1 && openedMatching === undefined && collectives.isOnlyCall) return this.#forget()
    return this.#drain(exchange)
  }

  #forget(): readonly undefined[] {
    this.#state.runtime.dropContext(this.#state.id)
    return noResults
  }

  /** Forgets the communicator when no frame of it is in flight to this process, and none will be sent. */
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
    // Peers may still fetch payloads that have been offered to them.
    await allSent(exchange)
    return this.#forget()
  }
}

interface Counts {
  /** The number of envelopes that all processes have sent to this one. */
  readonly arriving: number
  /** The peers that exchanged more with this process than collectives, which are complete. */
  readonly messaged: readonly number[]
}

/**
 * Exchanges counts: every process that sent envelopes to another, or shares tables, reports to it how many. Reports
 * travel to processes 1, 2, 4, ... further on, as the bits of their distance say. That takes ceil(lg count) messages
 * per process, empty if there is nothing to report.
 */
async function exchangeCounts(state: CommState, exchange: Exchange): Promise<Counts> {
  const { me, count } = exchange
  const { openedMatching, sharesTables } = state
  const messaged = new Set<number>()
  /** The reports in flight: destination, source, envelopes. */
  let reports: number[] = []
  for (let peer = 0; peer < count; peer++) {
    const sent = openedMatching?.envelopes.sentTo(state.processes.processes.at(peer)) ?? 0
    if (peer === me || (sent === 0 && !sharesTables)) continue
    messaged.add(peer)
    reports.push(peer, me, sent)
  }
  for (let distance = 1, round = 0; distance < count; distance *= 2, round++) {
    const kept: number[] = []
    const passed: number[] = []
    for (let at = 0; at < reports.length; at += 3) {
      const left = (reports[at] - me + count) % count
      const side = (left & distance) === 0 ? kept : passed
      side.push(reports[at], reports[at + 1], reports[at + 2])
    }
    exchange.send((me + distance) % count, step.counts + round, bytesOf(Float64Array.from(passed)))
    const bytes = await exchange.receive((me - distance + count) % count, step.counts + round)
    reports = [...kept, ...new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 3)]
  }
  let arriving = 0
  for (let at = 0; at < reports.length; at += 3) {
    messaged.add(reports[at + 1])
    arriving += reports[at + 2]
  }
  return { arriving, messaged: [...messaged] }
}
