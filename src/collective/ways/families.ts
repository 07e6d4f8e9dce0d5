import { integerOption } from '../../base/option.js'
import { equalNumbers } from '../../base/search.js'
import type { Algorithm, Shape } from '../patterns/algorithm.js'
import { type ParameterTable, parameterized } from '../patterns/parameterized.js'
import {
  allreduceAlong,
  bcastAlong,
  gatherAlong,
  reduceScatterAlong,
  reduceToRootAlong,
} from './along-ways.js'
import { bitFields, bitOrderOption, orderRefusal } from './bit-order.js'
import { boxExtents, boxOf, lineExtents } from './box.js'
import { cubeWays, mostCubeWays } from './cube-way.js'
import { mixedWays, ringWays } from './ring-way.js'
import type { GatherWay } from './way.js'

/** The collectives that follow ways. */
type AlongCollective = 'allgather' | 'reduce-scatter' | 'bcast' | 'reduce' | 'allreduce'

/** Ways of one kind, from which each of the collectives gets an algorithm. */
interface WayFamily<Values> {
  readonly source: string
  /** The networks for which the ways serve, in a few words. */
  readonly serves: string
  readonly parameters: ParameterTable
  /** The id of every algorithm, and the phases, messages and sent data of its entry in the catalog. */
  readonly algorithms: Readonly<Record<AlongCollective, readonly [string, string, string, string]>>
  refuses(shape: Shape, values: Values): string | null
  ways(shape: Shape, values: Values): readonly GatherWay[]
}

/** The most ways; a grid has fewer dimensions and directions. */
const mostPorts = 48

const ports = integerOption({
  least: 1,
  most: mostPorts,
  default: 1,
  help: 'messages of a rank at once, each in another way',
})

const shuffle = integerOption({
  least: 0,
  most: 1,
  default: 0,
  help: '1: data are exchanged once more, so that every message is a run of the result',
})

type ReorderedValues = { readonly order: string; readonly ports: number }

/**
 * Recursive doubling along an order of bits, for any number of ranks. The order of bits is that of the network of the
 * ranks, unless `order` gives another.
 *
 * @see Sack 2011 §3.4.1
 */
export const reordered = algorithmsAlong<ReorderedValues>({
  source: 'Sack 2011 §3.4.1 (reordered recursive doubling)',
  serves: 'tapered networks and tori',
  parameters: { order: bitOrderOption, ports },
  algorithms: {
    allgather: ['allgather-reordered', 'L', 'at most P L', 'P - 1'],
    'reduce-scatter': ['reduce-scatter-reordered', 'L', 'at most P L', 'P - 1'],
    bcast: ['bcast-reordered', '2 L', 'about P L', '2(P - 1)/P'],
    reduce: ['reduce-reordered', '2 L', 'about P L + P - 1', '3/2 - 1/P'],
    allreduce: ['allreduce-reordered', '2 L', 'at most 2 P L', '2(P - 1)/P'],
  },
  refuses({ grid, ranks }, { order, ports: wanted }) {
    const most = mostCubeWays(grid, ranks, order)
    if (wanted > most) return `ports must be at most ${most}, one for each dimension, got ${wanted}`
    const extents = order === 'path' ? lineExtents(ranks) : boxExtents(grid, ranks)
    return bitsRefusal(extents.dims) ?? orderRefusal(order, extents)
  },
  ways: (shape, { order, ports: wanted }) =>
    retainedWays(shape, `${order} ${wanted}`, () => cubeWays(shape.grid, shape.ranks, order, wanted)),
})

type BucketValues = { readonly ports: number; readonly doubling: number }

/**
 * Rings, one dimension of the network after the other. `ports` is the number of such rings that run at once, each for a
 * section of the data: in rotated orders of the dimensions, and in both directions.
 *
 * @see Sack 2011 §3.4.2
 */
export const bucket = algorithmsAlong<BucketValues>({
  source: 'Sack 2011 §3.4.2 (bucket)',
  serves: 'tori, every port',
  parameters: {
    ports,
    doubling: integerOption({
      least: 0,
      most: 1,
      default: 0,
      help: '1: recursive doubling in place of all rings but the last',
    }),
  },
  algorithms: {
    allgather: ['allgather-bucket', 'P - 1', 'P(P - 1)', 'P - 1'],
    'reduce-scatter': ['reduce-scatter-bucket', 'P - 1', 'P(P - 1)', 'P - 1'],
    bcast: ['bcast-bucket', 'L + P - 1', 'about P^2 - P L/2', '2(P - 1)/P'],
    reduce: ['reduce-bucket', 'L + P - 1', 'P^2 - 1', '3/2 - 1/P'],
    allreduce: ['allreduce-bucket', '2(P - 1)', '2 P(P - 1)', '2(P - 1)/P'],
  },
  refuses({ grid, ranks }, { ports: wanted, doubling }) {
    const { dims, wraps } = boxExtents(grid, ranks)
    const count = Math.max(1, dims.length)
    if (wanted > count && wanted !== 2 * count)
      return `ports must be at most the number of dimensions, ${count}, or twice that, got ${wanted}`
    if (wanted > count && count > 1 && !wraps.every((wrap) => wrap))
      return `rings in both directions need dimensions that wrap: ports must be at most ${count}, got ${wanted}`
    return doubling === 0 ? null : bitsRefusal(dims)
  },
  ways: (shape, { ports: wanted, doubling }) =>
    retainedWays(shape, `${wanted} ${doubling}`, () => {
      const box = boxOf(shape.grid, shape.ranks)
      return doubling === 1 && box.dims.length > 0 ? mixedWays(box, wanted) : ringWays(box, wanted)
    }),
})

/**
 * Returns the algorithms of a family of ways. An allgather follows the ways; a reduce-scatter sends its messages
 * backwards. The other collectives join both, or either with a binomial tree over the first way. Reductions combine in
 * the order of the way.
 *
 * Blocks are named, so they may lie apart in a message. With `shuffle=1`, an allgather and a reduce-scatter first move
 * them so that every message is a run of the result, which costs a phase and one block more per rank.
 *
 * @see Sack 2011 §3.4.4
 */
function algorithmsAlong<Values extends { readonly ports: number }>(
  family: WayFamily<Values>,
): Readonly<Record<AlongCollective, Algorithm>> {
  const { source, parameters } = family
  const common = (collective: AlongCollective, data: string) => {
    const [id, phases, messages, sent] = family.algorithms[collective]
    const catalog = { source, phases, messages, sent, serves: `long ${data}, ${family.serves}` }
    return { id, collective, followsGrid: true, catalog } as const
  }
  const typed = (values: object) => values as Values & { readonly shuffle?: number }
  const functions = {
    sections: (values: object) => typed(values).ports,
    refuses: (shape: Shape, values: object) => family.refuses(shape, typed(values)),
  }
  const waysOf = (shape: Shape, values: object) => firstEqual(shape, family.ways(shape, typed(values)))
  const ofBlocks = (collective: 'allgather' | 'reduce-scatter', emitAlong: typeof gatherAlong) =>
    parameterized<ParameterTable>({
      ...common(collective, 'blocks'),
      parameters: { ...parameters, shuffle },
      ...functions,
      ...(collective === 'allgather' ? {} : { order: () => 'any' }),
      emit(shape, rank, operations, _, values) {
        const { segments = 1 } = shape
        const ways = family.ways(shape, typed(values))
        emitAlong(operations, rank, { ways, segments, isShuffled: typed(values).shuffle === 1 })
      },
    })
  const ofVector = (collective: 'bcast' | 'reduce' | 'allreduce', emitAlong: typeof bcastAlong) =>
    parameterized<ParameterTable>({
      ...common(collective, 'data'),
      parameters,
      ...functions,
      waysOf,
      parts: ({ ranks, segments = 1 }) => ranks * segments,
      ...(collective === 'bcast' ? {} : { order: () => 'any' }),
      emit(shape, rank, operations, _, values) {
        const { segments = 1, root = 0 } = shape
        emitAlong(operations, rank, { ways: family.ways(shape, typed(values)), segments, root })
      },
    })
  return {
    allgather: ofBlocks('allgather', gatherAlong),
    'reduce-scatter': ofBlocks('reduce-scatter', reduceScatterAlong),
    bcast: ofVector('bcast', bcastAlong),
    reduce: ofVector('reduce', reduceToRootAlong),
    allreduce: ofVector('allreduce', allreduceAlong),
  }
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

/** Returns the first ways of a shape that are equal to given ones, which are its own, too. */
function firstEqual(shape: Shape, ways: readonly GatherWay[]): readonly GatherWay[] {
  return [...retained.get(shape)!.values()].find((other) => areEqual(other, ways))!
}

function areEqual(a: readonly GatherWay[], b: readonly GatherWay[]): boolean {
  return a === b || (a.length === b.length && a.every((way, i) => isEqual(way, b[i])))
}

function isEqual(a: GatherWay, b: GatherWay): boolean {
  return (
    a.stages === b.stages &&
    equalNumbers(a.originAt, b.originAt) &&
    a.originAt.every(
      (participant) =>
        JSON.stringify([...a.messages(participant)]) === JSON.stringify([...b.messages(participant)]),
    )
  )
}

/** The most bits of a cube; its corners take four bytes each. */
const mostBits = 26

function bitsRefusal(dims: readonly number[]): string | null {
  const { bits } = bitFields(dims)
  return bits > mostBits ? `extents must have at most ${mostBits} bits together, got ${bits}` : null
}
