/**
 * `rankweave/graphology`: topologies from and to graphs of graphology, and communities of ranks. Only this entry loads
 * graphology.
 *
 * @module rankweave/graphology
 */
export {
  type GraphOptions,
  type TopologyEdgeAttributes,
  topologyFromGraph,
  topologyToGraph,
} from '../topology/files/graphology.js'
export { communityStart } from '../topology/mapping/communities.js'
