/**
 * The objectives that a mapping minimizes:
 * - `pairs`: distinct (source rank, destination node) on different nodes: messages between nodes if the data for one
 *   node are sent once;
 * - `edges`: distinct edges between nodes: messages of direct sends;
 * - `hop-bytes`: the weights of edges times the distance of the nodes of both ends (Hoefler and Snir 2011, dilation);
 * - `busiest-node`: pairs that leave or enter the node that has most.
 */
export const mappingObjectives = ['pairs', 'edges', 'hop-bytes', 'busiest-node'] as const
export type MappingObjective = (typeof mappingObjectives)[number]

/** The time of a strategy on a machine with a profile. The room that knows strategies computes it. */
export const simulatedTime = 'simulated-time'
/** The objectives for which mappings in files are made. */
export type PlacementObjective = MappingObjective | typeof simulatedTime
