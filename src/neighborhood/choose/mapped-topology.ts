import type { Machine } from '../../machine/machine.js'
import { hopsBetween } from '../../machine/network.js'
import { mapFromCommunities } from '../../topology/mapping/communities.js'
import { readMapping } from '../../topology/mapping/mapping-file.js'
import { type PlacementCosts, placementCosts } from '../../topology/mapping/placement-costs.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'

/**
 * The source of the slots of vertices: `auto` computes them; otherwise a mapping file has them, which names itself in
 * messages.
 */
export type MapSource = 'auto' | { readonly file: string; readonly text: string }

/** The mapping of a topology's vertices before planning, as JSON. */
export interface AppliedMapping {
  /** `auto`, or the name of the file. */
  readonly map: string
  /** The start from which it was refined; null for files, which do not have it. */
  readonly start: string | null
  /** The costs by every objective with vertex v on slot v. */
  readonly before: PlacementCosts
  /** The costs with vertices on the slots of the mapping. */
  readonly after: PlacementCosts
  /** Whether the plan's rank `slotOf[v]` is vertex v; else rank v is, as without a mapping. */
  readonly isMapped: boolean
  /** {@link topologyHash} of the topology that was given: the one in mapping files. */
  readonly topology: string
  /** {@link topologyHash} of the topology that is planned: the one in schedule files. */
  readonly planned: string
  /**
   * The times that decided whether vertices move, each with the strategy chosen for it. Null if vertices move in any
   * case.
   */
  readonly simulated: { readonly identityUs: number; readonly mappedUs: number } | null
}

/** A topology whose ranks are slots. */
export interface MappedTopology {
  /** The topology whose rank `slotOf[v]` is vertex v. It is the given one if no vertex moves. */
  readonly topology: ProcessTopology
  readonly mapping: AppliedMapping
}

/** The slots and their machine. */
interface Slots {
  readonly machine: Machine
  /** The node of every slot. */
  readonly nodes: Int32Array
}

/**
 * Maps the vertices of a topology onto slots: `auto` for the objective `pairs`, as `rankweave map` does. `auto` moves
 * no vertex if all slots are on one node.
 *
 * @throws ERR_MAPPING for a file that is not a mapping of this topology
 * @throws ERR_TOPOLOGY, ERR_MACHINE
 */
export function mappedTopology(
  topology: ProcessTopology,
  source: MapSource,
  { machine, nodes }: Slots,
): MappedTopology {
  const distance = hopsBetween(machine)
  const { slotOf, start } =
    source === 'auto'
      ? mapFromCommunities([{ topology }], { nodeOfSlot: nodes })
      : { slotOf: readMapping(source.text, topology, source.file), start: null }
  const isMapped = slotOf.some((slot, vertex) => slot !== vertex)
  const planned = isMapped ? relabelledTopology(topology, slotOf) : topology
  return {
    topology: planned,
    mapping: {
      map: source === 'auto' ? source : source.file,
      start,
      before: placementCosts(topology, nodes, distance),
      after: placementCosts(planned, nodes, distance),
      isMapped,
      topology: topologyHash(topology),
      planned: topologyHash(planned),
      simulated: null,
    },
  }
}

/** Returns the mapping as not used: the topology is planned as it was given. */
export function withoutMapping(mapping: AppliedMapping): AppliedMapping {
  return { ...mapping, isMapped: false, planned: mapping.topology }
}
