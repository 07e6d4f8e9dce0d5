import { requireKnownOptions } from '../../base/known-options.js'
import { noteRank, RankweaveError, shown } from '../../errors.js'
import { hostedBy } from '../hosted-ranks.js'
import type { AnyCall } from '../matching/collective-call.js'
import { gathered, type JointCall } from '../matching/collective-engine.js'
import type { JoiningCalls } from '../matching/lane.js'
import type { CollectiveContext, CollectiveHandle } from '../plan/collective-plan.js'
import { barrierOf } from './barrier.js'
import { callOptions, type ReductionOptions } from './options.js'
import { AllreduceCall } from './reduce.js'
import type { ReduceContribution } from './reduction.js'

/**
 * Makes one collective call for all ranks of a process, with one promise. The engine gathers the calls, and the ranks
 * join together when the last one has called.
 *
 * @param comms the handles of all ranks of a communicator here, each once
 * @param call makes the call of one rank and returns its promise
 * @throws what a call throws, and ERR_ARGUMENT, before any rank has joined
 */
export function callTogether<H extends CollectiveHandle>(
  comms: ArrayLike<H>,
  call: (comm: H, k: number) => unknown,
): Promise<unknown> {
  const hosted = hostedBy<CollectiveContext>('together', 'handles', comms)
  const { state, places } = hosted
  const list = hosted.list as ArrayLike<H>
  const { collectives } = state
  const outer = repeated
  let results: Promise<unknown>
  try {
    const own = places === undefined ? new RepeatedCalls(state, list) : undefined
    results = collectives.together((calls) => gather(state, list, places, call, calls, own))
  } catch (error) {
    if (!(error instanceof NotGathered)) throw error
    return refusal(error, state.worldRank(error.place))
  } finally {
    repeated = outer
  }
  if (places === undefined) return results
  return results.then((all) => (Array.isArray(all) ? Array.from(places, (place) => all[place]) : all))
}

/** Calls for each rank in turn; an error that a call throws names the rank. */
function gather<H>(
  state: CollectiveContext,
  comms: ArrayLike<H>,
  places: Int32Array | undefined,
  call: (comm: H, k: number) => unknown,
  calls: JoiningCalls,
  own: RepeatedCalls | undefined,
): JointCall | undefined {
  repeated = own
  const { length } = comms
  let k = 0
  try {
    for (; k < length; k++) {
      const returned = call(comms[k], k)
      if (own !== undefined && own.count === k + 1 && calls.count === 0 && returned === gathered) continue
      const place = places?.[k] ?? k
      const count = calls.count + (own?.count ?? 0)
      if (returned !== gathered || count !== k + 1 || calls.lastCaller !== place)
        throw new NotGathered(returned, k, place)
    }
  } catch (error) {
    noteRank(error, state.worldRank(places?.[k] ?? k))
    throw error
  }
  return own?.whole()
}

/** Ends the gathering of calls, because a rank has not made exactly one. */
class NotGathered {
  readonly returned: unknown
  readonly k: number
  readonly place: number

  constructor(returned: unknown, k: number, place: number) {
    this.returned = returned
    this.k = k
    this.place = place
  }
}

/** Rejects with the error of the arguments, if a method has rejected its promise with one. */
async function refusal({ returned, k }: NotGathered, worldRank: number): Promise<never> {
  try {
    await Promise.race([returned, undefined])
  } catch (error) {
    noteRank(error, worldRank)
    throw error
  }
  const got = returned === gathered ? 'more, or that of another handle,' : shown(returned)
  const message = `together: expected the promise of one collective call of each handle, got ${got} at place ${k}`
  throw new RankweaveError('ERR_ARGUMENT', message)
}

/**
 * The calls of the `together` in progress in this thread, as long as its ranks repeat a call that needs no description
 * of each rank.
 */
export let repeated: RepeatedCalls | undefined

/** Calls of ranks, from the first on, that repeat the last call of their communicator or a barrier. */
export class RepeatedCalls {
  /** The number of ranks that have called so. */
  count = 0
  readonly #state: CollectiveContext
  readonly #comms: ArrayLike<unknown>
  #call: AnyCall | undefined
  /** The contributions of the ranks, by local index; undefined if they pass nothing. */
  #contributions: readonly unknown[] | undefined
  #numbers: PackedNumbers | undefined
  #op: unknown

  constructor(state: CollectiveContext, comms: ArrayLike<unknown>) {
    this.#state = state
    this.#comms = comms
  }

  /** Takes the barrier of the next rank. Returns false if it must call as a single rank does. */
  takeBarrier(comm: CollectiveHandle): boolean {
    if (comm !== this.#comms[this.count]) return false
    if (this.count === 0) this.#call = barrierOf(this.#state, undefined)
    else if (this.#call !== this.#state.plans.barrier) return false
    this.count++
    return true
  }

  /** Takes a call that has been checked, if all ranks before have the same one; see {@link takeBarrier}. */
  take(comm: CollectiveHandle, call: AnyCall, contribution: unknown): boolean {
    const { count } = this
    if (comm !== this.#comms[count]) return false
    if (count === 0) {
      this.#call = call
      this.#contributions = new Array(this.#comms.length)
    } else if (call !== this.#call) return false
    ;(this.#contributions as unknown[])[count] = contribution
    this.count++
    return true
  }

  /**
   * Takes an allreduce of a number, which needs no array, or of the arrays that were checked in the call before; see
   * {@link takeBarrier}.
   */
  takeAllreduce(
    comm: CollectiveHandle,
    data: unknown,
    op: unknown,
    options: ReductionOptions | undefined,
  ): boolean {
    const { count } = this
    if (comm !== this.#comms[count]) return false
    if (count === 0) {
      if (!this.#beginsAllreduce(op, options)) return false
    } else if (op !== this.#op || !(this.#call instanceof AllreduceCall)) return false
    if (this.#numbers !== undefined) {
      if (typeof data !== 'number' || options !== undefined) return false
      this.#numbers.numbers[count] = data
    } else {
      const last = this.#contributions![count] as ReduceContribution
      if (data !== last.data || options?.into !== last.into) return false
      if (options !== undefined && !isKnown(this.#call as AllreduceCall, count, options)) return false
    }
    this.count++
    return true
  }

  #beginsAllreduce(op: unknown, options: ReductionOptions | undefined): boolean {
    const call = this.#state.collectives.reusableCall()
    if (!(call instanceof AllreduceCall)) return false
    const { length } = this.#comms
    if (options === undefined && call.takesNumbers(op)) this.#numbers = new PackedNumbers(length)
    else {
      const last = call.lastArrays(op)
      if (last?.length !== length || !call.isMethod(options)) return false
      this.#contributions = last
    }
    this.#call = call
    this.#op = op
    return true
  }

  /** Returns the call of all ranks if each repeats it. Otherwise those that do call as single ranks do. */
  whole(): JointCall | undefined {
    const { count } = this
    if (count === 0) return undefined
    const { collectives } = this.#state
    const call = this.#call!
    const numbers = this.#numbers
    // Ranks that are at different calls join one by one, with what each passes.
    if (count === this.#comms.length && collectives.isEven)
      return { call, contributions: numbers === undefined ? this.#contributions : [numbers.whole()] }
    for (let i = 0; i < count; i++)
      collectives.call(i, call, (numbers === undefined ? this.#contributions?.[i] : numbers.of(i)) as never)
    return undefined
  }
}

/** The numbers of all ranks here in one array. */
class PackedNumbers {
  readonly numbers: Float64Array

  constructor(ranks: number) {
    this.numbers = new Float64Array(ranks)
  }

  /** Returns the only contribution of a call of all ranks. */
  whole(): ReduceContribution {
    return { data: this.numbers, into: undefined, numbers: this.numbers }
  }

  /** Returns what a single rank passes. */
  of(localIndex: number): ReduceContribution {
    return { data: Float64Array.of(this.numbers[localIndex]), into: undefined }
  }
}

/** Tells whether a rank passes the method of the call, no signal, and no unknown options, which single calls refuse. */
function isKnown(call: AllreduceCall, place: number, options: ReductionOptions): boolean {
  const { checkedOptions } = call
  if (options === null || options.signal !== undefined || !call.isMethod(options)) return false
  if (options === checkedOptions[place]) return true
  try {
    requireKnownOptions('allreduce', options, callOptions.allreduce)
  } catch {
    return false
  }
  checkedOptions[place] = options
  return true
}
