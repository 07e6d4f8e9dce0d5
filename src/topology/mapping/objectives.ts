/**
 * What a mapping makes small:
 * - `pairs`: distinct (source rank, destination node) on different nodes: messages between nodes where what goes to one
 *   node is sent once;
 * - `edges`: distinct edges between nodes: messages of direct sends;
 * - `hop-bytes`: the weights of edges times the distance of the nodes of both ends (Hoefler and Snir 2011, dilation);
 * - `busiest-node`: pairs that leave or enter the node that has most.
 */
export const mappingObjectives = ['pairs', 'edges', 'hop-bytes', 'busiest-node'] as const
export type MappingObjective = (typeof mappingObjectives)[number]

/** Beside them what a strategy takes on a machine with a profile, which is found where strategies are known. */
export const simulatedTime = 'simulated-time'
/** What mappings in files are made for. */
export type PlacementObjective = MappingObjective | typeof simulatedTime
