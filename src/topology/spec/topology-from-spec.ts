import { type OpenSource, type ReadProgress, withSource } from '../../text/byte-source.js'
import { parseCsv } from '../files/csv.js'
import { parseEdgeList } from '../files/edge-list.js'
import { parseGraphologyJson } from '../files/graphology-json.js'
import { parseMetis } from '../files/metis.js'
import { cartTopology } from '../generate/cartesian.js'
import { erdosRenyiTopology } from '../generate/erdos-renyi.js'
import { mooreTopology } from '../generate/moore.js'
import { powerLawTopology } from '../generate/power-law.js'
import { randomGeometricTopology } from '../generate/random-geometric.js'
import { rmatTopology } from '../generate/rmat.js'
import { smallWorldTopology } from '../generate/small-world.js'
import { stencilOffsets, stencilTopology } from '../generate/stencil.js'
import { topologyFromMatrixMarket } from '../matrix/matrix-market-topology.js'
import type { ProcessTopology } from '../process-topology.js'
import { parseTopologySpec, type TopologySpec } from './spec-text.js'

/**
 * Makes the topology, reading its file if it has one.
 *
 * @throws what the generator or reader throws: ERR_TOPOLOGY, ERR_DIMS, ERR_MATRIX_MARKET, ERR_FILE; ERR_SPEC for text
 */
export function buildTopology(
  specOrText: TopologySpec | string,
  options: { readonly open?: OpenSource; readonly onProgress?: ReadProgress } = {},
): ProcessTopology {
  const spec = typeof specOrText === 'string' ? parseTopologySpec(specOrText) : specOrText
  switch (spec.kind) {
    case 'moore':
      return mooreTopology(spec)
    case 'stencil': {
      const { dims, periods, neighbors } = spec
      const offsets =
        'shape' in neighbors
          ? stencilOffsets(neighbors.shape, dims.length, neighbors.radius)
          : neighbors.offsets
      return stencilTopology({ dims, periods, offsets })
    }
    case 'cart':
      return cartTopology(spec)
    case 'er':
      return erdosRenyiTopology(spec)
    case 'rgg':
      return randomGeometricTopology(spec)
    case 'ws':
      return smallWorldTopology(spec)
    case 'powerlaw':
      return powerLawTopology(spec)
    case 'rmat':
      return rmatTopology(spec)
    case 'mtx':
      return withSource(spec.file, (source) => topologyFromMatrixMarket(source, spec), options)
    case 'metis':
      return withSource(spec.file, (source) => parseMetis(source, spec.file).topology, options)
    case 'csv':
      return withSource(spec.file, (source) => parseCsv(source, { file: spec.file }), options)
    case 'graphology':
      return withSource(spec.file, (source) => parseGraphologyJson(source, { file: spec.file }), options)
    case 'edges':
      return withSource(spec.file, (source) => parseEdgeList(source, spec.file), options)
  }
}
