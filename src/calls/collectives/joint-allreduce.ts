import { hostedBy } from '../hosted-ranks.js'
import { AllreduceCall } from './allreduce.js'
import type { Handle } from './form.js'

/**
 * The allreduce of all ranks of a process that pass numbers, without an array for each.
 *
 * @returns undefined where the last call was another one, or a rank passes anything else
 */
export function allreduceNumbers(
  comms: ArrayLike<Handle>,
  data: unknown,
  op: unknown,
): Promise<unknown> | undefined {
  const { state, places } = hostedBy('allreduceAll', 'handles', comms)
  const { collectives } = state
  if (places !== undefined || !collectives.isEven) return undefined
  const call = collectives.reusableCall()
  if (!(call instanceof AllreduceCall) || !call.isMethod(undefined) || !call.takesNumbers(op))
    return undefined
  const given = data as ArrayLike<unknown> | null | undefined
  if (given?.length !== comms.length) return undefined
  const numbers = new Float64Array(comms.length)
  for (let i = 0; i < numbers.length; i++) {
    const number = given[i]
    if (typeof number !== 'number') return undefined
    numbers[i] = number
  }
  return collectives.callTogether(call, [{ data: numbers, into: undefined, numbers }])
}
