/**
 * `rankweave/topology`: who sends to whom, from generators, files and sparse matrices; friends and their grouping. It
 * knows no communicator.
 *
 * @module rankweave/topology
 */

// topologies

export type { CartShape } from '../topology/cart-shape.js'
export { blockBounds } from '../topology/compressed-rows.js'
export { inNeighbors, outNeighbors } from '../topology/neighbors.js'
export type { ProcessTopology } from '../topology/process-topology.js'
export {
  type EdgeArrays,
  type NeighborLists,
  topologyFromEdges,
  topologyFromLists,
} from '../topology/topology-builders.js'
export { topologyHash } from '../topology/topology-hash.js'
export { type TopologyStatistics, topologyStatistics } from '../topology/topology-statistics.js'

// generators and the specifications that name them

export type { TopologySpec } from '../topology/files/spec-text.js'
export { buildTopology } from '../topology/files/topology-from-spec.js'
export { cartTopology, dimsCreate } from '../topology/generate/cartesian.js'
export {
  type ErdosRenyi,
  erdosRenyiTopology,
  type PowerLaw,
  powerLawTopology,
  type RandomGeometric,
  type Rmat,
  randomGeometricTopology,
  rmatTopology,
  type SmallWorld,
  smallWorldTopology,
} from '../topology/generate/random-graphs.js'
export {
  type Moore,
  mooreTopology,
  type Stencil,
  type StencilShape,
  stencilTopology,
} from '../topology/generate/stencil.js'
export {
  findTranslations,
  type TranslationFinding,
  type TranslationOptions,
  type Translations,
} from '../topology/generate/translations.js'

// files

export { type ByteSource, sourceOf } from '../text/byte-source.js'
export type { OpenSource, ReadProgress } from '../text/source-file.js'
export { adjacencySvg, type PictureOptions } from '../topology/files/adjacency-picture.js'
export type { CsvOptions } from '../topology/files/csv.js'
export { type TopologyFormat, topologyText } from '../topology/files/format-topology.js'
export { type MetisGraph, parseMetis } from '../topology/files/metis.js'

// sparse matrices

export { formatMatrixMarket, readMatrixMarket } from '../topology/files/matrix-market.js'
export {
  compressTriplets,
  type SparseMatrix,
  type SparsePattern,
  type Triplets,
  topologyFromMatrix,
} from '../topology/files/sparse-matrix.js'

// friends and their grouping

export {
  type CommonNeighborOptions,
  type CommonNeighbors,
  commonNeighbors,
} from '../topology/friends/common-neighbors.js'
export type { FriendGroups } from '../topology/friends/friend-groups.js'
export type {
  GroupingEngine,
  GroupingOptions,
  GroupingProgress,
} from '../topology/friends/grouping-options.js'
export {
  countHyperedges,
  type HyperedgeCount,
  type HyperedgeOptions,
} from '../topology/friends/hyperedges.js'
export {
  type CombiningForecast,
  type Forecast,
  type ForecastOptions,
  forecastCombining,
} from '../topology/grouping/combining-forecast.js'
export { simulateGrouping } from '../topology/grouping/group-by-messages.js'
export { type Grouping, groupFriends } from '../topology/grouping/group-friends.js'
export type { GroupingMessages as MessageCounts } from '../topology/grouping/grouping-messages.js'

// placement

export {
  joinedTopology,
  type MapOptions,
  type Mapping,
  type MappingStart,
  mapTopologies,
  mapTopology,
  type RepeatedTopology,
} from '../topology/mapping/map-topology.js'
export { type PlacementCosts, placementCosts } from '../topology/mapping/placement-costs.js'
export type { MappingObjective } from '../topology/mapping/problem.js'
export { relabelledTopology } from '../topology/mapping/relabel.js'
