import type { Stage } from '../../src/cost/models/congested-cost.js'

// Stages and shuffles of the allgathers whose congestion Sack 2011 prints: what `congestedCost` is compared with.

/**
 * An allgather by recursive doubling in any order of the bits: in stage s, 2^s blocks are exchanged with the
 * node whose number differs in bit `order[s]`. The blocks arrive in another order than that of their nodes
 * unless `order` ascends; a shuffle repairs it, which is not included.
 *
 * @param order a permutation of 0 to lg P - 1
 * @see Sack 2011 §3.3
 */
export function doublingStages(order: readonly number[], blockBytes: number): readonly Stage[] {
  const nodes = 2 ** order.length
  const source = Int32Array.from({ length: nodes }, (_, node) => node)
  return order.map((bit, s) => ({
    source,
    destination: source.map((node) => node ^ (2 ** bit)),
    bytes: new Float64Array(nodes).fill(2 ** s * blockBytes),
  }))
}

/**
 * Bytes that a shuffle of one block per node costs, charged to the bisection of a torus: an eighth of the
 * nodes' blocks cross it in each direction. Fixed routes may congest more.
 *
 * @see Sack 2011 §3.4
 */
export function torusShuffleBytes(dims: readonly number[], blockBytes: number): number {
  return (blockBytes * Math.max(...dims)) / 4
}

/**
 * Bytes that a shuffle of one block per node costs, charged to the links that leave a switch of a Clos
 * network.
 *
 * @see Sack 2011 §3.3
 */
export function closShuffleBytes(taper: number, blockBytes: number): number {
  return blockBytes / taper
}
