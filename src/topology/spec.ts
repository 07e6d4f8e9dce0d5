import { type OnRead, type OpenSource, withSource } from './byte-source.js'
import { cartTopology } from './cartesian.js'
import { parseCsv } from './csv.js'
import { parseEdgeList } from './edge-list.js'
import { erdosRenyiTopology } from './erdos-renyi.js'
import { parseGraphologyJson } from './graphology-json.js'
import { topologyFromMatrixMarket } from './matrix-market-topology.js'
import { parseMetis } from './metis.js'
import { mooreTopology } from './moore.js'
import { powerLawTopology } from './power-law.js'
import type { ProcessTopology } from './process-topology.js'
import { randomGeometricTopology } from './random-geometric.js'
import { rmatTopology } from './rmat.js'
import { smallWorldTopology } from './small-world.js'
import { parseTopologySpec, type TopologySpec } from './spec-text.js'
import { stencilOffsets, stencilTopology } from './stencil.js'

/**
 * Makes the topology, reading its file if it has one.
 *
 * @throws what the generator or reader throws: ERR_TOPOLOGY, ERR_DIMS, ERR_MATRIX_MARKET, ERR_FILE; ERR_SPEC for text
 */
export function buildTopology(
  specOrText: TopologySpec | string,
  options: { readonly open?: OpenSource; readonly onRead?: OnRead } = {},
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
