import { hashIntegers } from '../base/hash.js'
import { type OptionTable, signalOption, uncheckedOption, uncheckedOptions } from '../base/option.js'
import { checkOptions } from '../base/option-table.js'
import type { CommHandle } from '../comm/comm-state.js'
import { RankweaveError } from '../errors.js'
import { type CartShape, checkCartShape, sizeOf } from '../topology/cart-shape.js'
import { checkTopology, type ProcessTopology } from '../topology/process-topology.js'
import { topologyHash } from '../topology/topology-hash.js'
import {
  checkPlanFrom,
  type PlanFrom,
  requireDegrees,
  requireLength,
  requireNumbers,
  requireRanks,
  snapshotOf,
} from './arguments.js'
import { createWith, type LoadHandles, strategyOf, type TopologyOptions } from './create.js'
import type { AdjacentEdges, DistributedEdges } from './distributed/gather-lists.js'

export interface CartOptions extends TopologyOptions {
  /** Marks the dimensions that wrap around. Default: none does. */
  readonly periods?: readonly boolean[]
}

export interface AdjacentOptions extends AdjacentEdges, TopologyOptions {
  /**
   * `graph`: every process gathers the lists of all ranks and plans for all. `neighbors`: every process plans
   * for its own ranks, from their lists and by messages. Default: by the size of the graph
   * (docs/plans-at-scale.md#larger-graphs), and `neighbors` with the engine `distributed`. The plan is the same.
   */
  readonly planFrom?: PlanFrom
}

export interface DistGraphOptions extends DistributedEdges, TopologyOptions {}

// Valid values depend on the communicator and on each other; `createWith` checks them.
const topologyOptions: OptionTable<TopologyOptions> = {
  signal: signalOption,
  ...uncheckedOptions('strategy', 'machine', 'planCache', 'reorder'),
}
const cartOptions: OptionTable<CartOptions> = { ...topologyOptions, periods: uncheckedOption }
const lists = uncheckedOptions('sources', 'destinations')
const adjacentOptions: OptionTable<AdjacentOptions> = {
  ...topologyOptions,
  ...lists,
  ...uncheckedOptions('sourceWeights', 'destinationWeights', 'planFrom'),
}
const distGraphOptions: OptionTable<DistGraphOptions> = {
  ...topologyOptions,
  ...lists,
  ...uncheckedOptions('degrees', 'weights'),
}

export function createCart<C>(
  comm: CommHandle,
  load: LoadHandles<unknown, C>,
  dims: readonly number[],
  options: CartOptions = {},
): Promise<C | null> {
  requireNumbers('createCart', 'dims', dims)
  checkOptions('createCart', cartOptions, options)
  const given: CartShape = { dims: [...dims], periods: options.periods ?? Array.from(dims, () => false) }
  checkCartShape(given)
  const shape: CartShape = { dims: given.dims, periods: [...given.periods] }
  const ranks = sizeOf(shape)
  if (ranks > comm.size) {
    throw new RankweaveError(
      'ERR_DIMS',
      `createCart: expected a grid of at most ${comm.size} ranks, got ${dims.join('x')} = ${ranks}`,
    )
  }
  return createWith(comm, options, {
    ranks,
    contribution: null,
    make: ({ cachedTopology, cartTopology }) => ({ topology: cachedTopology(cartTopology(shape)) }),
    name: 'createCart',
    isWhole: true,
    agreed: ['cart', shape.dims.join('x'), shape.periods.join()],
    handle: async () => (await load()).cartHandle,
  })
}

export function createGraph<G>(
  comm: CommHandle,
  load: LoadHandles<G, unknown>,
  givenIndex: ArrayLike<number>,
  givenEdges: ArrayLike<number>,
  options: TopologyOptions = {},
): Promise<G | null> {
  checkOptions('createGraph', topologyOptions, options)
  requireNumbers('createGraph', 'index', givenIndex)
  requireNumbers('createGraph', 'edges', givenEdges)
  const [index, edges] = [snapshotOf(givenIndex), snapshotOf(givenEdges)]
  const ranks = index.length
  if (ranks > comm.size) {
    const message = `createGraph: expected at most ${comm.size} ranks, got an index of ${ranks}`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  return createWith(comm, options, {
    ranks,
    contribution: null,
    make: ({ cachedTopology, topologyFromLists }) => {
      if (ranks === 0) return null
      const start = [0, ...Array.from(index)]
      const lists = { ranks, inStart: start, inRank: edges, outStart: start, outRank: edges }
      return { topology: cachedTopology(topologyFromLists(lists)) }
    },
    name: 'createGraph',
    isWhole: true,
    agreed: ['graph', hashIntegers(index), hashIntegers(edges)],
    handle: async () => (await load()).graphHandle,
  })
}

export function createTopology<G, C extends G>(
  comm: CommHandle,
  load: LoadHandles<G, C>,
  topology: ProcessTopology,
  options: TopologyOptions = {},
): Promise<G> {
  checkOptions('createTopology', topologyOptions, options)
  const fingerprint = checkedFingerprint(topology)
  if (topology.ranks !== comm.size) {
    const message = `createTopology: expected a topology of ${comm.size} ranks, got one of ${topology.ranks}`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  const made = createWith(comm, options, {
    ranks: topology.ranks,
    contribution: null,
    make: () => ({ topology }),
    name: 'createTopology',
    isWhole: true,
    agreed: ['topology', fingerprint],
    handle: async () => (await load())[topology.cart === null ? 'graphHandle' : 'cartHandle'],
  })
  return made as Promise<G>
}

export function createDistGraphAdjacent<G>(
  comm: CommHandle,
  load: LoadHandles<G, unknown>,
  options: AdjacentOptions,
): Promise<G> {
  const where = 'createDistGraphAdjacent'
  checkOptions(where, adjacentOptions, options)
  const { sources, destinations, sourceWeights, destinationWeights } = options
  requireRanks(where, 'source', sources, comm.size)
  requireRanks(where, 'destination', destinations, comm.size)
  const isWeighted = sourceWeights !== undefined
  if (isWeighted !== (destinationWeights !== undefined))
    throw new RankweaveError('ERR_ARGUMENT', `${where}: expected weights on both sides or on neither`)
  requireLength(where, 'source weight', sourceWeights, sources.length)
  requireLength(where, 'destination weight', destinationWeights, destinations.length)
  const { machine, planFrom } = options
  const strategy = strategyOf(comm, options)
  checkPlanFrom(strategy, planFrom)
  const made = createWith(comm, options, {
    ranks: comm.size,
    contribution: {
      ...{ sources: snapshotOf(sources), destinations: snapshotOf(destinations) },
      ...{ sourceWeights: snapshotOf(sourceWeights), destinationWeights: snapshotOf(destinationWeights) },
    } as AdjacentEdges,
    make: ({ topologyOrPlan }, state, exchange, hosted, reorder) =>
      topologyOrPlan(state, exchange, hosted, { isWeighted, strategy, machine, planFrom, reorder }),
    name: where,
    isWhole: false,
    agreed: ['adjacent', isWeighted ? 'weighted' : 'unweighted', planFrom ?? 'by size'],
    handle: async () => (await load()).graphHandle,
  })
  return made as Promise<G>
}

export function createDistGraph<G>(
  comm: CommHandle,
  load: LoadHandles<G, unknown>,
  options: DistGraphOptions,
): Promise<G> {
  const where = 'createDistGraph'
  checkOptions(where, distGraphOptions, options)
  const { sources, degrees, destinations, weights } = options
  requireRanks(where, 'source', sources, comm.size)
  requireRanks(where, 'destination', destinations, comm.size)
  requireNumbers(where, 'degrees', degrees)
  requireLength(where, 'degree', degrees, sources.length)
  requireDegrees(where, degrees, destinations.length)
  requireLength(where, 'weight', weights, destinations.length)
  const isWeighted = weights !== undefined
  const made = createWith(comm, options, {
    ranks: comm.size,
    contribution: {
      ...{ sources: snapshotOf(sources), degrees: snapshotOf(degrees) },
      ...{ destinations: snapshotOf(destinations), weights: snapshotOf(weights) },
    } as DistributedEdges,
    make: async ({ cachedTopology, gatherEdges, topologyFromEdges }, state, exchange, hosted) => {
      const edges = await gatherEdges(state, exchange, hosted, isWeighted)
      return { topology: cachedTopology(topologyFromEdges(comm.size, edges)) }
    },
    name: where,
    isWhole: true,
    agreed: ['edges', isWeighted ? 'weighted' : 'unweighted'],
    handle: async () => (await load()).graphHandle,
  })
  return made as Promise<G>
}

/** The fingerprints of the topologies that ranks of this thread passed. */
const fingerprints = new WeakMap<ProcessTopology, string>()

/**
 * Hashes everything in a topology: neighbors, weights, shape. A topology that many ranks of a process pass is checked
 * and hashed once.
 *
 * @throws ERR_TOPOLOGY for a malformed topology
 */
function checkedFingerprint(topology: ProcessTopology): string {
  const known = fingerprints.get(topology)
  if (known !== undefined) return known
  checkTopology(topology)
  const fingerprint = fingerprintOf(topology)
  fingerprints.set(topology, fingerprint)
  return fingerprint
}

function fingerprintOf(topology: ProcessTopology): string {
  const { cart, inWeight, outWeight } = topology
  const shape = cart === null ? '' : `${cart.dims.join('x')}:${cart.periods.join()}`
  return [topologyHash(topology), shape, weightHash(inWeight), weightHash(outWeight)].join(' ')
}

function weightHash(weights: Float64Array | null): number {
  return weights === null ? 0 : hashIntegers(new Int32Array(weights.slice().buffer))
}
