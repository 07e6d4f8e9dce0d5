import { inversePermutation } from '../../base/search.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'

/**
 * Builds the topology whose rank `slotOf[v]` is vertex v: the same messages, between ranks of other numbers. Lists keep
 * their order. It is not a Cartesian topology, and its parallel edges pair by occurrence.
 *
 * @param slotOf a permutation of the ranks
 * @throws ERR_TOPOLOGY, ERR_MAPPING
 */
export function relabelledTopology(topology: ProcessTopology, slotOf: ArrayLike<number>): ProcessTopology {
  requireTopology(topology)
  requireSlots(slotOf, topology.ranks)
  const { ranks, outStart, outRank, outWeight, inStart, inRank, inWeight } = topology
  const vertexOf = inversePermutation(slotOf)
  const out = relabelledRows(outStart, outRank, outWeight, { slotOf, vertexOf })
  const into = relabelledRows(inStart, inRank, inWeight, { slotOf, vertexOf })
  return {
    ranks,
    ...{ outStart: out.start, outRank: out.rank, outWeight: out.weight },
    ...{ inStart: into.start, inRank: into.rank, inWeight: into.weight },
    ...{ pairing: 'occurrence', cart: null },
  }
}

function requireSlots(slotOf: ArrayLike<number>, ranks: number): void {
  const slots = (Object(slotOf) as ArrayLike<number>).length
  if (slots !== ranks) throw wrongValue('ERR_MAPPING', `expected the slots of ${ranks} ranks`, slots)
  requirePermutation(slotOf)
}

/**
 * @param where a prefix of messages
 * @throws ERR_MAPPING unless it is a permutation of 0 to its length - 1
 */
export function requirePermutation(permutation: ArrayLike<unknown>, where = ''): void {
  const { length } = permutation
  const has = new Uint8Array(length)
  for (let i = 0; i < length; i++) {
    const at = permutation[i]
    const times = typeof at === 'number' ? has[at] : undefined
    if (times === 0) {
      has[at as number] = 1
      continue
    }
    const got = times === 1 ? `${at} twice` : shown(at)
    throw new RankweaveError(
      'ERR_MAPPING',
      `${where}expected a permutation of 0 to ${length - 1}, got ${got}`,
    )
  }
}

function relabelledRows(
  start: Int32Array,
  rank: Int32Array,
  weight: Float64Array | null,
  { slotOf, vertexOf }: { readonly slotOf: ArrayLike<number>; readonly vertexOf: Int32Array },
) {
  const newStart = new Int32Array(start.length)
  const newRank = new Int32Array(rank.length)
  const newWeight = weight === null ? null : new Float64Array(weight.length)
  for (let slot = 0, at = 0; slot < vertexOf.length; slot++) {
    const v = vertexOf[slot]
    newWeight?.set(weight!.subarray(start[v], start[v + 1]), at)
    for (let e = start[v]; e < start[v + 1]; e++) newRank[at++] = slotOf[rank[e]]
    newStart[slot + 1] = at
  }
  return { start: newStart, rank: newRank, weight: newWeight }
}
