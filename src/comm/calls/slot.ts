import type { RankweaveError } from '../../errors.js'
import { type AnyCall, RankFailure } from './collective-call.js'
import type { SlotExchange } from './slot-exchange.js'

/** A promise with its ends. */
interface Deferred {
  readonly promise: Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** One collective in one process: who has arrived with what, and whom to tell. */
export class Slot {
  readonly seq: number
  /** Made when a frame arrives or the collective runs. */
  exchange: SlotExchange | undefined
  /** Headers of other processes that were here before any local rank: one of each. */
  early: Map<number, Int32Array> | undefined
  /** The first call to arrive; its `run` is the one that runs. */
  call: AnyCall | undefined
  /** Local index of the rank that brought it. */
  firstCaller = -1
  arrived = 0
  /** Local index of the rank whose call runs it just now, and which does not wait yet; else -1. */
  runner = -1
  /** Over here, in one way or another. */
  settled = false
  /** Allocated with the first contribution that is not undefined, so that a barrier keeps nothing per rank. */
  contributions: unknown[] | undefined
  /** Detach functions of the ranks that wait with a signal, by local index. */
  signals: Map<number, () => void> | undefined
  /** Settles with the collective: the promise of all ranks of a shared result, and what the others derive from. */
  #shared: Deferred | undefined
  /** Promises derived from `#whole`, and whose they are, in the order of their derivation. */
  #derived: Promise<unknown>[] | undefined
  #owners: number[] | undefined
  #deriving = 0
  /** Ends of the promises that can be rejected alone, by local index. */
  #separate: Map<number, Deferred> | undefined
  #results: readonly unknown[] | undefined
  #delivered = 0
  readonly #localRanks: number

  constructor(seq: number, localRanks: number) {
    this.seq = seq
    this.#localRanks = localRanks
  }

  /** The promise of one rank; ranks of a shared result have one together, and so has a rank alone. */
  promise(localIndex: number, shared: boolean): Promise<unknown> {
    this.#shared ??= deferred()
    if (shared || this.#localRanks === 1) return this.#shared.promise
    this.#deliverNext ??= () => this.#deliver()
    this.#derived ??= new Array(this.#localRanks)
    this.#owners ??= new Array(this.#localRanks)
    const own = this.#shared.promise.then(this.#deliverNext)
    this.#derived[this.#deriving] = own
    this.#owners[this.#deriving++] = localIndex
    return own
  }

  /** A promise that {@link rejectOne} can reject: it costs more than the others. */
  separatePromise(localIndex: number): Promise<unknown> {
    const own = deferred()
    this.#separate ??= new Map()
    this.#separate.set(localIndex, own)
    return own.promise
  }

  /** @param results by local index; a shared result is the first */
  resolve(results: readonly unknown[]): void {
    this.#results = results
    if (this.#shared !== undefined) {
      // Ranks that derive from it get each its own.
      if (this.#derived === undefined) settle(this.#shared, results[0])
      else this.#shared.resolve(undefined)
    }
    if (this.#separate === undefined) return
    for (const [localIndex, own] of this.#separate) {
      settle(own, this.call!.shared === true ? results[0] : results[localIndex])
    }
  }

  reject(error: RankweaveError): void {
    for (let i = 0; i < this.#deriving; i++) this.#derived![i]!.catch(ignore)
    rejectQuietly(this.#shared, error)
    for (const own of this.#separate?.values() ?? []) rejectQuietly(own, error)
  }

  rejectOne(localIndex: number, error: RankweaveError): void {
    rejectQuietly(this.#separate?.get(localIndex), error)
  }

  /**
   * One function for all derived promises instead of a closure for each: reactions on one promise run in the order in
   * which they were attached, so the n-th time it runs it speaks for the n-th owner.
   */
  #deliverNext: (() => unknown) | undefined

  #deliver(): unknown {
    const result = this.#results![this.#owners![this.#delivered++]!]
    if (result instanceof RankFailure) throw result.error
    return result
  }
}

/**
 * Rejecting what nobody awaits yet must not end the host program: a failure reaches many promises at once, and
 * the communicator keeps the error for every later call.
 */
function rejectQuietly(own: Deferred | undefined, error: RankweaveError): void {
  own?.promise.catch(ignore)
  own?.reject(error)
}

function ignore(): void {}

function settle(own: Deferred, result: unknown): void {
  if (result instanceof RankFailure) own.reject(result.error)
  else own.resolve(result)
}

function deferred(): Deferred {
  let resolve!: Deferred['resolve']
  let reject!: Deferred['reject']
  const promise = new Promise<unknown>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
