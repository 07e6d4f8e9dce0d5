import { RankweaveError, shown } from '../errors.js'
import type { ProcessTopology } from './process-topology.js'

/**
 * Whether a value has the lists of a topology, of their types; how long they are and what is in them is for
 * `checkTopology`. Takes constant time, so that every function that users call with a topology may ask.
 *
 * @throws ERR_TOPOLOGY
 */
export function requireTopology(value: unknown): asserts value is ProcessTopology {
  const { ranks, outStart, outRank, outWeight, inStart, inRank, inWeight, cart } = Object(
    value,
  ) as Partial<ProcessTopology>
  const isComplete =
    typeof ranks === 'number' &&
    [outStart, outRank, inStart, inRank].every((list) => list instanceof Int32Array) &&
    [outWeight, inWeight].every((list) => list === null || list instanceof Float64Array) &&
    (cart === null || Array.isArray(Object(cart).dims))
  if (isComplete) return
  throw new RankweaveError(
    'ERR_TOPOLOGY',
    `expected a process topology with its lists of neighbors, got ${shown(value)}`,
  )
}
