import { wrongValue } from '../../errors.js'
import { topologyLimits } from '../limits.js'

/**
 * Copies and checks a list of nodes.
 *
 * @param what the list, for messages
 * @throws ERR_MACHINE unless it has `length` integers from 0
 */
export function nodeList(what: string, given: ArrayLike<number>, length: number): Int32Array {
  const entries = (Object(given) as ArrayLike<number>).length
  if (entries !== length) throw wrongValue('ERR_MACHINE', `${what}: expected ${length} nodes`, entries)
  for (let i = 0; i < length; i++)
    if (!Number.isInteger(given[i]) || given[i] < 0 || given[i] >= topologyLimits.ranks)
      throw wrongValue('ERR_MACHINE', `${what}, entry ${i}: expected a node, an integer from 0`, given[i])
  return Int32Array.from(given)
}
