import { largestOf } from '../../src/base/search.js'
import {
  fail,
  requireBytes,
  requireFigures,
  requireInteger,
  requireTaper,
} from '../../src/cost/models/check-input.js'
import type { Stage } from '../../src/cost/models/congested-cost.js'
import { shown } from '../../src/errors.js'

// Stages of the allgathers whose congestion Sack 2011 prints: what `congestedCost` is compared with.

/**
 * An allgather by recursive doubling in any order of the bits: in stage s, 2^s blocks are exchanged with the
 * node whose number differs in bit `order[s]`. The blocks arrive in another order than that of their nodes
 * unless `order` ascends; a shuffle repairs it, which is not included.
 *
 * @param order a permutation of 0 to lg P - 1
 * @throws ERR_MODEL
 * @see Sack 2011 §3.3
 */
export function doublingStages(order: readonly number[], blockBytes: number): readonly Stage[] {
  requireFigures('bits', order)
  requireInteger('bits', order.length, 0, 20)
  for (const bit of order) requireInteger('bits', bit, 0, order.length - 1)
  requireBytes('blockBytes', blockBytes)
  if ([...order].sort((a, b) => a - b).some((bit, i) => bit !== i))
    fail(`expected a permutation of the bits 0 to ${order.length - 1}, got ${order.join(', ')}`)
  const nodes = 2 ** order.length
  const source = Int32Array.from({ length: nodes }, (_, node) => node)
  return order.map((bit, s) => ({
    source,
    destination: source.map((node) => node ^ (2 ** bit)),
    bytes: new Float64Array(nodes).fill(2 ** s * blockBytes),
  }))
}

/**
 * The order of bits that congests a torus least: the bits that travel furthest first, while blocks are few.
 * @throws ERR_MODEL
 */
export function torusOrder(dims: readonly number[]): readonly number[] {
  requireFigures('extents', dims)
  const bits = dims.flatMap((extent, d) => {
    requireInteger('extents', extent, 1, 2 ** 20)
    if (Math.log2(extent) % 1 !== 0) fail(`expected extents that are powers of two, got ${extent}`)
    const first = Math.log2(dims.slice(0, d).reduce((product, other) => product * other, 1))
    return Array.from({ length: Math.log2(extent) }, (_, bit) => ({
      bit: first + bit,
      // The top bit may take either way round.
      congestion: 2 ** (bit + 1) === extent ? Math.max(1, extent / 4) : 2 ** bit,
      height: bit,
    }))
  })
  return bits
    .sort((a, b) => b.congestion - a.congestion || b.height - a.height || b.bit - a.bit)
    .map(({ bit }) => bit)
}

/**
 * An allgather by rings, a dimension after the other: what a node has is passed around the ring of the next
 * dimension. Several at the same time, each for a section of every block, in other orders of the dimensions
 * or in the other direction.
 *
 * @param dims extents of a torus, the fastest first
 * @param ways 1; 3: the dimensions in rotated orders; 6: the same in both directions
 * @throws ERR_MODEL
 * @see Sack 2011 §3.4
 */
export function bucketStages(dims: readonly number[], ways: 1 | 3 | 6, blockBytes: number): readonly Stage[] {
  requireFigures('extents', dims)
  if (dims.length !== 3) fail(`expected 3 dimensions, got ${dims.length}`)
  if (![1, 3, 6].includes(ways)) fail(`expected 1, 3 or 6 ways, got ${shown(ways)}`)
  for (const extent of dims) requireInteger('extents', extent, 1, 2 ** 20)
  requireBytes('blockBytes', blockBytes)
  const nodes = dims.reduce((product, extent) => product * extent, 1)
  requireInteger('nodes', nodes, 1, 2 ** 20)
  const strides = [1, dims[0], dims[0] * dims[1]]
  const isBoth = ways === 6
  const operations = Array.from({ length: ways }, (_, i) => {
    const turn = isBoth ? i >> 1 : i
    return { order: [0, 1, 2].map((d) => (d + turn) % 3), step: isBoth && i % 2 === 1 ? -1 : 1 }
  })
  return [0, 1, 2].map((phase) => {
    const source: number[] = []
    const destination: number[] = []
    const bytes: number[] = []
    const side: number[] = []
    const after: number[][] = []
    for (const { order, step } of operations) {
      const d = order[phase]
      const [extent, stride] = [dims[d], strides[d]]
      const gathered = order.slice(0, phase).reduce((product, other) => product * dims[other], 1)
      const neighbor = (node: number, by: number): number => {
        const at = Math.floor(node / stride) % extent
        return node + (((at + by + extent) % extent) - at) * stride
      }
      const first = source.length
      for (let round = 0; round < extent - 1; round++) {
        for (let node = 0; node < nodes; node++) {
          source.push(node)
          destination.push(neighbor(node, step))
          bytes.push((blockBytes / ways) * gathered)
          side.push(step)
          // What came in the round before continues.
          after.push(round === 0 ? [] : [first + (round - 1) * nodes + neighbor(node, -step)])
        }
      }
    }
    return { source, destination, bytes, side, after }
  })
}

/**
 * Bytes that a shuffle of one block per node costs, charged to the bisection of a torus: an eighth of the
 * nodes' blocks cross it in each direction. Fixed routes may congest more.
 *
 * @throws ERR_MODEL
 * @see Sack 2011 §3.4
 */
export function torusShuffleBytes(dims: readonly number[], blockBytes: number): number {
  requireFigures('extents', dims)
  if (dims.length === 0) fail('expected at least one extent, got none')
  for (const extent of dims) requireInteger('extents', extent, 1, 2 ** 20)
  requireBytes('blockBytes', blockBytes)
  return (blockBytes * largestOf(dims)) / 4
}

/**
 * Bytes that a shuffle of one block per node costs, charged to the links that leave a switch of a Clos
 * network.
 *
 * @throws ERR_MODEL
 * @see Sack 2011 §3.3
 */
export function closShuffleBytes(taper: number, blockBytes: number): number {
  requireTaper(taper)
  requireBytes('blockBytes', blockBytes)
  return blockBytes / taper
}
