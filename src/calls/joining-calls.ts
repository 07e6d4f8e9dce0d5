import { RankweaveError } from '../errors.js'
import type { AnyCall } from './collective-call.js'
import type { Lane } from './lane.js'

/** The calls with which all ranks of a process join one collective together, by local index. */
export class JoiningCalls {
  /** That of the rank that called first. */
  call: AnyCall | undefined
  firstCaller = 0
  lane: Lane | undefined
  contributions: unknown[] | undefined
  /** Calls other than the first one's object. */
  others: Map<number, AnyCall> | undefined
  signals: Map<number, AbortSignal> | undefined
  readonly #ranks: number

  constructor(ranks: number) {
    this.#ranks = ranks
  }

  /** @throws ERR_ARGUMENT for a signal that is none */
  add(
    lane: Lane,
    localIndex: number,
    call: AnyCall,
    contribution: unknown,
    signal: AbortSignal | undefined,
  ): void {
    requireSignal(signal)
    if (this.call === undefined) {
      this.call = call
      this.lane = lane
      this.firstCaller = localIndex
    } else if (call !== this.call) {
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
}

/** @throws ERR_ARGUMENT */
export function requireSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new RankweaveError('ERR_ARGUMENT', `expected an AbortSignal as signal, got ${typeof signal}`)
}
