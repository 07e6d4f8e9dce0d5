import { hopsBetween } from '../../machine/hops.js'
import type { Machine } from '../../machine/machine.js'
import { mapFromCommunities } from '../../topology/mapping/community-start.js'
import { readMapping } from '../../topology/mapping/mapping-file.js'
import { type PlacementCosts, placementCosts } from '../../topology/mapping/placement-costs.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'

/** Where the slots of vertices come from. `auto`: they are computed; else a mapping file, which names itself in messages. */
export type MapSource = 'auto' | { readonly file: string; readonly text: string }

/** How the vertices of a topology were mapped before planning, as JSON. */
export interface AppliedMapping {
  /** `auto`, or the name of the file. */
  readonly map: string
  /** From what it was refined; null: files do not say. */
  readonly start: string | null
  /** What every objective costs with vertex v on slot v. */
  readonly before: PlacementCosts
  /** The same with vertices on the slots of the mapping. */
  readonly after: PlacementCosts
  /** Whether the plan's rank `slotOf[v]` is vertex v; else rank v is, as without a mapping. */
  readonly isMapped: boolean
  /** {@link topologyHash} of the topology that was given: the one in mapping files. */
  readonly topology: string
  /** {@link topologyHash} of the topology that is planned: the one in schedule files. */
  readonly planned: string
  /** What decided whether vertices move, with the strategy chosen for each; null: they move whatever that takes. */
  readonly simulated: { readonly identityUs: number; readonly mappedUs: number } | null
}

/** A topology whose ranks are slots. */
export interface MappedTopology {
  /** Its rank `slotOf[v]` is vertex v. The given topology where no vertex moves. */
  readonly topology: ProcessTopology
  readonly mapping: AppliedMapping
}

/** Where slots are. */
export interface Slots {
  readonly machine: Machine
  /** The node of every slot. */
  readonly nodes: Int32Array
}

/**
 * Maps the vertices of a topology onto slots: `auto` for the objective `pairs`, as `rankweave map` does. Where all slots
 * are on one node, `auto` moves no vertex.
 *
 * @throws ERR_MAPPING for a file that is no mapping of this topology
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

/** The mapping is not used: the topology is planned as it was given. */
export function withoutMapping(mapping: AppliedMapping): AppliedMapping {
  return { ...mapping, isMapped: false, planned: mapping.topology }
}
