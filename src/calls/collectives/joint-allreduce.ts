import { requireKnownOptions } from '../../base/known-options.js'
import { hostedBy } from '../hosted-ranks.js'
import { AllreduceCall } from './allreduce.js'
import type { Handle } from './form.js'
import { callOptions, type ReductionOptions } from './options.js'
import type { ReduceContribution } from './reduction.js'

/**
 * Repeats the last allreduce for all ranks of a process, with the arrays that were checked then or with numbers, which
 * need no array each.
 *
 * @param options of all ranks, or a list with those of each
 * @returns undefined if the last call was another one, or a rank passes anything else
 * @throws ERR_ARGUMENT for unknown options
 */
export function repeatedAllreduce(
  comms: ArrayLike<Handle>,
  data: unknown,
  op: unknown,
  options: unknown,
): Promise<unknown> | undefined {
  const { state, places } = hostedBy('allreduceAll', 'handles', comms)
  const { collectives } = state
  const given = data as ArrayLike<unknown> | null | undefined
  const call = collectives.reusableCall()
  if (places !== undefined || given?.length !== comms.length || !(call instanceof AllreduceCall))
    return undefined
  const isNumbers = options === undefined && call.takesNumbers(op)
  const contributions = isNumbers ? numbersOf(given) : repeatedArrays(call, given, op, options)
  // Reading an entry may have called another collective.
  if (contributions === undefined || !collectives.isEven || collectives.reusableCall() !== call)
    return undefined
  return collectives.callTogether(call, contributions)
}

function repeatedArrays(call: AllreduceCall, given: ArrayLike<unknown>, op: unknown, options: unknown) {
  const last = call.lastArrays(op)
  if (last?.length !== given.length || !doAllRepeat(call, options, given.length)) return undefined
  const isList = Array.isArray(options)
  for (let n = 0; n < last.length; n++) {
    const own = isList ? options[n] : options
    if (given[n] !== last[n].data || own?.into !== last[n].into) return undefined
  }
  return last
}

/** Returns one contribution that holds the numbers of all ranks. */
function numbersOf(given: ArrayLike<unknown>): readonly ReduceContribution[] | undefined {
  const numbers = new Float64Array(given.length)
  for (let i = 0; i < numbers.length; i++) {
    const number = given[i]
    if (typeof number !== 'number') return undefined
    numbers[i] = number
  }
  return [{ data: numbers, into: undefined, numbers }]
}

/** Tells whether no rank asks for another algorithm or passes a signal. */
function doAllRepeat(call: AllreduceCall, options: unknown, count: number): boolean {
  const isList = Array.isArray(options)
  const list: readonly (ReductionOptions | undefined)[] = isList ? options : [options]
  if (isList && list.length !== count) return false
  const { checkedOptions } = call
  for (let n = 0; n < list.length; n++) {
    const own = list[n]
    if (own === null || own?.signal !== undefined || !call.isMethod(own)) return false
    if (own === checkedOptions[n]) continue
    if (own !== undefined) requireKnownOptions('allreduceAll', own, callOptions.allreduce)
    checkedOptions[n] = own
  }
  return true
}
