import { requireOptions } from '../base/require-options.js'
import { hashIntegers } from '../comm/calls/signature.js'
import type { Communicator } from '../comm/communicator.js'
import { RankweaveError } from '../errors.js'
import { checkCartShape, sizeOf } from '../topology/cart-shape.js'
import { cartTopology } from '../topology/generate/cartesian.js'
import type { CartShape, ProcessTopology } from '../topology/process-topology.js'
import { topologyFromEdges, topologyFromLists } from '../topology/topology-builders.js'
import { requireDegrees, requireLength, requireNumbers, requireRanks } from './arguments.js'
import { CartCommunicator } from './cart-communicator.js'
import { createWith, type TopologyOptions } from './create.js'
import { planHostedRanks } from './distributed/distributed-plan.js'
import {
  type AdjacentEdges,
  type DistributedEdges,
  gatherAdjacent,
  gatherEdges,
} from './distributed/gather-lists.js'
import { localTopology } from './distributed/local-topology.js'
import { nodesOf, placementOf } from './execute/placement.js'
import type { CommonNeighbor } from './plan/strategy.js'
import { cachedTopology } from './topology-cache.js'
import { TopologyCommunicator } from './topology-communicator.js'
import { checkedFingerprint } from './topology-fingerprint.js'

export interface CartOptions extends TopologyOptions {
  /** Which dimensions wrap around. Default: none. */
  readonly periods?: readonly boolean[]
}

export interface AdjacentOptions extends AdjacentEdges, TopologyOptions {}

export interface DistGraphOptions extends DistributedEdges, TopologyOptions {}

export function createCart(
  comm: Communicator,
  dims: readonly number[],
  options: CartOptions = {},
): Promise<CartCommunicator | null> {
  requireNumbers('createCart', 'dims', dims)
  requireOptions('createCart', options)
  const shape: CartShape = { dims: [...dims], periods: options.periods ?? Array.from(dims, () => false) }
  checkCartShape(shape)
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
    gather: () => null,
    build: () => cachedTopology(cartTopology(shape)),
    agreed: ['cart', shape.dims.join('x'), shape.periods.join()],
    handle: (state, localIndex, neighborhood) => new CartCommunicator(state, localIndex, neighborhood),
  })
}

export function createGraph(
  comm: Communicator,
  index: ArrayLike<number>,
  edges: ArrayLike<number>,
  options: TopologyOptions = {},
): Promise<TopologyCommunicator | null> {
  requireNumbers('createGraph', 'index', index)
  requireNumbers('createGraph', 'edges', edges)
  const ranks = index.length
  if (ranks > comm.size) {
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `createGraph: expected at most ${comm.size} ranks, got an index of ${ranks}`,
    )
  }
  return createWith(comm, options, {
    ranks,
    contribution: null,
    gather: () => null,
    build: () => {
      if (ranks === 0) return null
      const start = [0, ...Array.from(index)]
      return cachedTopology(
        topologyFromLists({ ranks, inStart: start, inRank: edges, outStart: start, outRank: edges }),
      )
    },
    agreed: ['graph', hashIntegers(index), hashIntegers(edges)],
    handle: graphHandle,
  })
}

export function createTopology(
  comm: Communicator,
  topology: ProcessTopology,
  options: TopologyOptions = {},
): Promise<TopologyCommunicator> {
  const fingerprint = checkedFingerprint(topology)
  if (topology.ranks !== comm.size) {
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `createTopology: expected a topology of ${comm.size} ranks, got one of ${topology.ranks}`,
    )
  }
  const made = createWith(comm, options, {
    ranks: topology.ranks,
    contribution: null,
    gather: () => null,
    build: () => topology,
    agreed: ['topology', fingerprint],
    handle: topology.cart === null ? graphHandle : cartHandle,
  })
  return made as Promise<TopologyCommunicator>
}

export function createDistGraphAdjacent(
  comm: Communicator,
  options: AdjacentOptions,
): Promise<TopologyCommunicator> {
  const where = 'createDistGraphAdjacent'
  requireOptions(where, options)
  const { sources, destinations, sourceWeights, destinationWeights } = options
  requireRanks(where, 'source', sources, comm.size)
  requireRanks(where, 'destination', destinations, comm.size)
  const isWeighted = sourceWeights !== undefined
  if (isWeighted !== (destinationWeights !== undefined)) {
    throw new RankweaveError('ERR_ARGUMENT', `${where}: expected weights on both sides or on neither`)
  }
  requireLength(where, 'source weight', sourceWeights, sources.length)
  requireLength(where, 'destination weight', destinationWeights, destinations.length)
  const { strategy } = options
  const agreed = ['adjacent', isWeighted ? 'weighted' : 'unweighted']
  const contribution = { sources, destinations, sourceWeights, destinationWeights } as AdjacentEdges
  if (strategy?.kind === 'common-neighbor' && strategy.engine === 'distributed') {
    return createFromLocalLists(comm, options, strategy, contribution, agreed)
  }
  const made = createWith(comm, options, {
    ranks: comm.size,
    contribution,
    gather: (state, exchange, hosted) => gatherAdjacent(state, exchange, hosted, isWeighted),
    build: (lists) => cachedTopology(topologyFromLists(lists)),
    agreed,
    handle: graphHandle,
  })
  return made as Promise<TopologyCommunicator>
}

/** Every process retains the lists of its own ranks only; the ranks group friends by messages. */
function createFromLocalLists(
  comm: Communicator,
  options: AdjacentOptions,
  strategy: CommonNeighbor,
  contribution: AdjacentEdges,
  agreed: readonly string[],
): Promise<TopologyCommunicator> {
  const made = createWith(comm, options, {
    ranks: comm.size,
    contribution,
    gather: (state, exchange, hosted) => localTopology(state, exchange, placementOf(state), hosted),
    build: ({ topology, error }) => {
      if (error !== null) throw error
      return topology
    },
    planHosted: (state, exchange, topology) => {
      const processOf = placementOf(state)
      const nodeOf = nodesOf(state, options.machine, processOf)
      return planHostedRanks(state, exchange, topology, strategy, { nodeOf, processOf })
    },
    agreed,
    handle: graphHandle,
  })
  return made as Promise<TopologyCommunicator>
}

export function createDistGraph(
  comm: Communicator,
  options: DistGraphOptions,
): Promise<TopologyCommunicator> {
  const where = 'createDistGraph'
  requireOptions(where, options)
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
    contribution: { sources, degrees, destinations, weights } as DistributedEdges,
    gather: (state, exchange, hosted) => gatherEdges(state, exchange, hosted, isWeighted),
    build: (edges) => cachedTopology(topologyFromEdges(comm.size, edges)),
    agreed: ['edges', isWeighted ? 'weighted' : 'unweighted'],
    handle: graphHandle,
  })
  return made as Promise<TopologyCommunicator>
}

type Handle = ConstructorParameters<typeof TopologyCommunicator>

const graphHandle = (...seat: Handle) => new TopologyCommunicator(...seat)
const cartHandle = (...seat: Handle) => new CartCommunicator(...seat)
