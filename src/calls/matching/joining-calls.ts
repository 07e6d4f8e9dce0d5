import { noteRank, RankweaveError } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { callMismatch } from './call-agreement.js'
import type { AnyCall } from './collective-call.js'
import type { Lane } from './lane.js'
import type { Revocation } from './revocation.js'
import type { Slot } from './slot.js'
import { watchSignal } from './slot-runner.js'

/** The calls with which all ranks of a process join one collective together, by local index. */
export class JoiningCalls {
  /** The call of the rank that called first. */
  call: AnyCall | undefined
  firstCaller = 0
  /** The local index of the rank that called last; -1 before any has. */
  lastCaller = -1
  count = 0
  lane: Lane | undefined
  contributions: unknown[] | undefined
  /** The calls that are another object than the first one. */
  others: Map<number, AnyCall> | undefined
  signals: Map<number, AbortSignal> | undefined
  readonly #ranks: number

  constructor(ranks: number) {
    this.#ranks = ranks
  }

  /** @throws ERR_ARGUMENT unless `signal` is an AbortSignal, and for starts of different inits */
  add(
    lane: Lane,
    localIndex: number,
    call: AnyCall,
    contribution: unknown,
    signal: AbortSignal | undefined,
  ): void {
    requireSignal(signal)
    this.count++
    this.lastCaller = localIndex
    if (this.call === undefined) {
      this.call = call
      this.lane = lane
      this.firstCaller = localIndex
    } else if (call !== this.call) {
      if (lane !== this.lane)
        throw new RankweaveError(
          'ERR_ARGUMENT',
          'expected starts of the requests of one init, got those of others',
        )
      this.others ??= new Map()
      this.others.set(localIndex, call)
    }
    if (contribution !== undefined) {
      this.contributions ??= new Array(this.#ranks)
      this.contributions[localIndex] = contribution
    }
    if (signal !== undefined) {
      this.signals ??= new Map()
      this.signals.set(localIndex, signal)
    }
  }

  callOf(localIndex: number): AnyCall {
    return this.others?.get(localIndex) ?? this.call!
  }

  /** Returns a signal that was aborted before the call, and its rank. */
  aborted(): readonly [localIndex: number, signal: AbortSignal] | undefined {
    for (const entry of this.signals ?? []) if (entry[1].aborted) return entry
    return undefined
  }

  mismatch(state: CommContext, lane: Lane, slot: Slot): RankweaveError | undefined {
    for (const [localIndex, call] of this.others ?? []) {
      const found = callMismatch(state, lane, slot, localIndex, call, undefined)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Watches the signals. A signal that several ranks passed is watched for the first of them. */
  watchSignals(state: CommContext, slot: Slot, revocation: Revocation): void {
    const watched = new Set<AbortSignal>()
    for (const [localIndex, signal] of this.signals ?? []) {
      if (!watched.has(signal)) watchSignal(state, slot, localIndex, signal, revocation)
      watched.add(signal)
    }
  }
}

/**
 * Joins each rank to its own next collective, as if it called alone, because ranks here have started different numbers
 * of collectives.
 *
 * @param join one rank joins
 */
export async function joinEach(
  state: CommContext,
  call: AnyCall,
  contributions: readonly unknown[] | undefined,
  joint: JoiningCalls | undefined,
  join: (
    localIndex: number,
    call: AnyCall,
    contribution: never,
    signal: AbortSignal | undefined,
  ) => Promise<unknown>,
): Promise<unknown> {
  const results = Array.from(state.localRanks, async (_, i) => {
    try {
      return await join(i, joint?.callOf(i) ?? call, contributions?.[i] as never, joint?.signals?.get(i))
    } catch (error) {
      noteRank(error, state.worldRank(i))
      throw error
    }
  })
  const all = await Promise.all(results)
  return call.shared === true ? all[0] : all
}

/** @throws ERR_ARGUMENT */
export function requireSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new RankweaveError('ERR_ARGUMENT', `expected an AbortSignal as signal, got ${typeof signal}`)
}
