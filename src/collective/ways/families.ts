import { integerOption } from '../../base/option.js'
import type { Algorithm, Shape } from '../patterns/algorithm.js'
import { bitFields, bitOrderOption, orderRefusal } from './bit-order.js'
import { boxExtents, boxOf, lineExtents } from './box.js'
import { cubeWays, mostCubeWays } from './cube-way.js'
import { mixedWays, ringWays } from './ring-way.js'
import type { GatherWay } from './way.js'

/** The most ways; a grid has fewer dimensions and directions. */
const mostPorts = 48

const ports = integerOption({
  least: 1,
  most: mostPorts,
  default: 1,
  help: 'messages of a rank at once, each in another way',
})

/** The parameter of allgathers and reduce-scatters; other collectives need no shuffle. */
export const shuffleParameter = {
  shuffle: integerOption({
    least: 0,
    most: 1,
    default: 0,
    help: '1: data are exchanged once more, so that every message is a run of the result',
  }),
}

interface ReorderedValues {
  readonly order: string
  readonly ports: number
}

/** Recursive doubling in any order of bits. @see Sack 2011 §3.4.1 */
export const reordered = {
  parameters: { order: bitOrderOption, ports },
  sections: (values: ReorderedValues): number => values.ports,
  refuses({ grid, ranks }: Shape, { order, ports: wanted }: ReorderedValues): string | null {
    const most = mostCubeWays(grid, ranks, order)
    if (wanted > most) return `ports must be at most ${most}, one for each dimension, got ${wanted}`
    const extents = order === 'path' ? lineExtents(ranks) : boxExtents(grid, ranks)
    return bitsRefusal(extents.dims) ?? orderRefusal(order, extents)
  },
  ways: (shape: Shape, { order, ports: wanted }: ReorderedValues): readonly GatherWay[] =>
    retainedWays(shape, `${order} ${wanted}`, () => cubeWays(shape.grid, shape.ranks, order, wanted)),
}

interface BucketValues {
  readonly ports: number
  readonly doubling: number
}

/** Rings, one dimension after the other. @see Sack 2011 §3.4.2 */
export const buckets = {
  parameters: {
    ports,
    doubling: integerOption({
      least: 0,
      most: 1,
      default: 0,
      help: '1: recursive doubling in place of all rings but the last',
    }),
  },
  sections: (values: BucketValues): number => values.ports,
  refuses({ grid, ranks }: Shape, { ports: wanted, doubling }: BucketValues): string | null {
    const { dims, wraps } = boxExtents(grid, ranks)
    const count = Math.max(1, dims.length)
    if (wanted > count && wanted !== 2 * count)
      return `ports must be at most the number of dimensions, ${count}, or twice that, got ${wanted}`
    if (wanted > count && count > 1 && !wraps.every((wrap) => wrap))
      return `rings in both directions need dimensions that wrap: ports must be at most ${count}, got ${wanted}`
    return doubling === 0 ? null : bitsRefusal(dims)
  },
  ways: (shape: Shape, { ports: wanted, doubling }: BucketValues): readonly GatherWay[] =>
    retainedWays(shape, `${wanted} ${doubling}`, () => {
      const box = boxOf(shape.grid, shape.ranks)
      return doubling === 1 && box.dims.length > 0 ? mixedWays(box, wanted) : ringWays(box, wanted)
    }),
}

/** Returns the algorithm for data that are not cut: with one way if it would have several. */
export function inOneWay(algorithm: Algorithm): Algorithm {
  return (algorithm.sections ?? 1) === 1 ? algorithm : algorithm.with!({ ...algorithm.values, ports: 1 })
}

/** The ways of shapes, which are the same for all ranks. */
const retained = new WeakMap<Shape, Map<string, readonly GatherWay[]>>()

function retainedWays(shape: Shape, key: string, make: () => readonly GatherWay[]): readonly GatherWay[] {
  const known = retained.get(shape)?.get(key)
  if (known !== undefined) return known
  const ways = make()
  const ofShape = retained.get(shape) ?? new Map<string, readonly GatherWay[]>()
  retained.set(shape, ofShape.set(key, ways))
  return ways
}

/** The most bits of a cube; its corners take four bytes each. */
const mostBits = 26

function bitsRefusal(dims: readonly number[]): string | null {
  const { bits } = bitFields(dims)
  return bits > mostBits ? `extents must have at most ${mostBits} bits together, got ${bits}` : null
}
