// Functions that no entry exports and that refuse values of other types all the same: what they are given may
// come from a program, through a function that is exported.

export { specificationOf } from '../../src/collective/patterns/schedule-of.js'
export { cProgramPieces } from '../../src/export/c-program.js'
export { goalPieces } from '../../src/export/goal-text.js'
export { expandHosts } from '../../src/machine/host-list.js'
export { levelOf, packageOf } from '../../src/machine/machine.js'
export { checkProfile } from '../../src/machine/profile.js'
export { StridedView } from '../../src/messages/datatype/strided-view.js'
export { formatAuto, parseAuto } from '../../src/neighborhood/choose/auto.js'
export { NeighborScheduleBuilder } from '../../src/schedule/builder.js'
export { isNeighborSchedule } from '../../src/schedule/ir.js'
export {
  neighborAllgatherSpecification,
  neighborAlltoallSpecification,
  neighborReduceSpecification,
} from '../../src/schedule/specification.js'
export { countMessages } from '../../src/schedule/walk.js'
export { maxRelativeError, serialProduct } from '../../src/spmm/dense-matrix.js'
export { cartNeighborSlots, cartShift } from '../../src/topology/cart-shape.js'
export { parseCsv } from '../../src/topology/files/csv.js'
export { parseEdgeList } from '../../src/topology/files/edge-list.js'
export { parseGraphologyJson } from '../../src/topology/files/graphology-json.js'
export { parseMatrixMarket, topologyFromMatrixMarket } from '../../src/topology/files/matrix-market.js'
export { formatTopologySpec, parseTopologySpec, translationSpec } from '../../src/topology/files/spec-text.js'
export { cartSub } from '../../src/topology/generate/cartesian.js'
export { stencilOffsets } from '../../src/topology/generate/stencil.js'
export { distinctIn, distinctOut, pairEdges, transposeTopology } from '../../src/topology/neighbors.js'
export { checkTopology } from '../../src/topology/process-topology.js'
export { clusterOf } from './cluster-of.js'
export { lowerProcess } from './lower-process.js'
