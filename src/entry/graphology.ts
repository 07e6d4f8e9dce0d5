/**
 * `rankweave/graphology`: topologies from and to graphs of graphology, which only this entry loads, and communities of
 * ranks.
 *
 * @module rankweave/graphology
 */
export {
  type GraphOptions,
  type TopologyEdgeAttributes,
  topologyFromGraph,
  topologyToGraph,
} from '../topology/files/graphology.js'
export { communityStart } from '../topology/mapping/community-start.js'
