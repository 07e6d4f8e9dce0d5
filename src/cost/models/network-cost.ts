import { largestOf } from '../../base/search.js'
import { bitFields, bitsInOrder, placeOfBit } from '../../collective/ways/bit-order.js'
import { boxExtents } from '../../collective/ways/box.js'
import { ringTurns } from '../../collective/ways/ring-way.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { fail, requireBytes } from './check-input.js'

/** The predicted time of an algorithm along the network's dimensions, by its closed cost. */
interface NetworkPrediction {
  /** The algorithm with its parameters. */
  readonly algorithm: string
  readonly timeUs: number
  /** The number of messages that a rank sends. */
  readonly messages: number
  /** The number of blocks that the busiest link of every stage carries, summed over the stages. */
  readonly units: number
}

/** The collectives with closed costs: an allreduce has the stages of both others. */
export const networkCollectives = ['allgather', 'reduce-scatter', 'allreduce'] as const
type NetworkCollective = (typeof networkCollectives)[number]

/**
 * Returns closed costs of buckets and reordered doubling with a rank on every node of a torus or Clos network, fastest
 * first. No schedule is made, so the number of nodes does not matter.
 *
 * A message takes latency and overheads of level `network`. A byte takes `hop.nsPerByte` on the busiest link of its
 * stage, or the time of the node's interface for all messages together if that is longer. A shuffle is charged to the
 * bisection, as the source does. Without it, blocks that lie apart are copied: at both ends of an allgather, at one of
 * a reduce-scatter by doubling.
 *
 * Doubling in several ways at once, and along extents that are not powers of two, has no closed cost.
 *
 * @param bytes of a rank's contribution or result; of an allreduce, of the whole vector
 * @throws ERR_MODEL for a cluster, a mesh, and bytes out of range; ERR_MACHINE for a machine without a profile
 * @see Sack 2011 §3.3 and §3.4
 */
export function predictNetwork(
  collective: NetworkCollective,
  machine: Machine,
  bytes: number,
): readonly NetworkPrediction[] {
  requireBytes('bytes', bytes)
  const { levels, hop, memory } = profileOf(machine)
  const { latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte } = levels.network
  const { costs, shuffleUnits } = closedCosts(machine)
  const others = machine.cores.length - 1
  const isBoth = collective === 'allreduce'
  const rounds = isBoth ? 2 : 1
  const block = isBoth ? bytes / (others + 1) : bytes
  const gamma = collective === 'allgather' ? 0 : others * memory.reduceNsPerByte
  return costs
    .flatMap((cost) => (isBoth || cost.isInOrder ? [0] : [0, 1]).map((shuffle) => ({ ...cost, shuffle })))
    .map(({ family, parameters, ways, isInOrder, shuffle, ...stages }): NetworkPrediction => {
      const messages = rounds * stages.messages + shuffle * ways
      const perByte = rounds * Math.max(stages.units * hop.nsPerByte, others * nsPerByte)
      const shuffled = shuffle * shuffleUnits
      const ends = collective === 'allgather' ? 2 : family === 'reordered' ? 1 : 0
      const copies = isBoth || isInOrder || shuffle === 1 ? 0 : ends * others
      const ns =
        copies * (block * memory.copyNsPerByte + ways * memory.copyBlockNs) +
        messages * (latencyNs + sendOverheadNs + receiveOverheadNs) +
        block * (perByte + shuffled * hop.nsPerByte + gamma)
      const values = [...parameters, ...(shuffle === 1 ? ['shuffle=1'] : [])].join(',')
      return {
        algorithm: `${collective}-${family}${values === '' ? '' : `:${values}`}`,
        ...{ timeUs: ns / 1000, messages, units: rounds * stages.units + shuffled },
      }
    })
    .sort((a, b) => a.timeUs - b.timeUs)
}

/** The stages of an algorithm, as {@link NetworkPrediction} describes them for one gather. */
interface StageCost {
  readonly family: 'reordered' | 'bucket'
  readonly parameters: readonly string[]
  readonly ways: number
  /** Whether every message is a run of the result without a shuffle. */
  readonly isInOrder: boolean
  readonly messages: number
  readonly units: number
}

function closedCosts(machine: Machine): { readonly costs: StageCost[]; readonly shuffleUnits: number } {
  const nodes = machine.cores.length
  switch (machine.kind) {
    case 'cluster':
      return fail('expected a torus or a Clos network, got a cluster')
    case 'torus': {
      const { dims, wraps } = boxExtents(machine, nodes)
      if (!wraps.every((wrap) => wrap)) fail('expected a torus whose dimensions all wrap, got a mesh')
      const fields = bitFields(dims)
      const loadOf = (bit: number): number => {
        const { d, height } = placeOfBit(fields, bit)
        return height === fields.widths[d] - 1 ? Math.max(1, dims[d] / 4) : 2 ** height
      }
      const ports = [...new Set([1, dims.length, 2 * dims.length])]
      const costs = [...doublingCosts(dims, wraps, loadOf), ...ports.map((count) => ringCost(dims, count))]
      return { costs, shuffleUnits: largestOf([0, ...dims]) / 4 }
    }
    case 'clos': {
      const { nodesPerLeaf, radix, levels } = machine
      const taper = levels === 1 ? 1 : (radix - nodesPerLeaf) / nodesPerLeaf
      const loadOf = (bit: number): number => (levels > 1 && 2 ** bit >= nodesPerLeaf ? 1 / taper : 1)
      const ring = ringCost([nodes], 1)
      const busiest = levels === 1 ? 1 : Math.max(1, 1 / (taper * nodesPerLeaf))
      const costs = [...doublingCosts([nodes], [false], loadOf), { ...ring, units: ring.units * busiest }]
      return { costs, shuffleUnits: 1 / taper }
    }
  }
}

/** Returns the costs of doubling: in stage s every rank exchanges 2^s blocks at the distance of a bit. */
function doublingCosts(
  dims: readonly number[],
  wraps: readonly boolean[],
  loadOf: (bit: number) => number,
): StageCost[] {
  if (dims.some((extent) => !Number.isInteger(Math.log2(extent)))) return []
  return ['network', 'halving', 'doubling'].map((order) => {
    const bits = bitsInOrder(order, { dims, wraps, isFirstInside: false })
    return {
      ...({ family: 'reordered', ways: 1, messages: bits.length } as const),
      ...{ parameters: order === 'network' ? [] : [`order=${order}`], isInOrder: order === 'doubling' },
      units: bits.reduce((sum, bit, stage) => sum + 2 ** stage * loadOf(bit), 0),
    }
  })
}

/** Returns the cost of buckets; a phase takes as long as the slowest of its rings. */
function ringCost(dims: readonly number[], ports: number): StageCost {
  const turns = ringTurns(dims.length, ports)
  let units = 0
  const gathered = turns.map(() => 1)
  for (let phase = 0; phase < dims.length; phase++) {
    const extents = turns.map(({ dimensions }) => dims[dimensions[phase]])
    units += largestOf(extents.map((extent, way) => gathered[way] * (extent - 1))) / ports
    extents.forEach((extent, way) => {
      gathered[way] *= extent
    })
  }
  return {
    ...({ family: 'bucket', ways: ports, isInOrder: ports === 1, units } as const),
    parameters: ports === 1 ? [] : [`ports=${ports}`],
    messages: ports * dims.reduce((sum, extent) => sum + extent - 1, 0),
  }
}
