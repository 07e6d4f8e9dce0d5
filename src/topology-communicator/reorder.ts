import { bytesOf, wordsOf } from '../base/bytes.js'
import type { Exchange } from '../calls/exchange/exchange.js'
import { bcastBytes } from '../calls/exchange/exchange-patterns.js'
import type { CommState } from '../comm/comm-state.js'
import { nodeOf } from '../machine/machine.js'
import { hopsBetween } from '../machine/network.js'
import { mapTopology } from '../topology/mapping/map-topology.js'
import { requireAmounts } from '../topology/mapping/weighted-graph.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { nodesInCommunicator, placementOf } from './execute/placement.js'
import type { ReorderOptions } from './reorder-options.js'

/** The visits of neighbors that refinement may spend, some 20 ns each: at most a tenth of the default of a mapping. */
export const reorderWork = 1e7
const bcastStep = 2_000

/**
 * Returns the rank of the parent whose place every vertex takes, as process 0 maps them; null if that changes nothing.
 * All processes of the exchange call it.
 *
 * @param topology of the first ranks of the parent
 * @throws ERR_TOPOLOGY on all of them, for weights that the objective cannot add
 */
export async function reorderedSlots(
  state: CommState,
  exchange: Exchange,
  topology: ProcessTopology,
  { objective, machine }: ReorderOptions,
): Promise<Int32Array | null> {
  const { ranks } = topology
  const nodeOfSlot =
    machine === undefined
      ? nodesInCommunicator(state, undefined, placementOf(state)).subarray(0, ranks)
      : nodeOf(machine, ranks)
  const ofNodes = machine ?? state.runtime.options.machine
  // All processes know the nodes, so all return here or none does.
  if (nodeOfSlot.every((node) => node === nodeOfSlot[0])) return null
  requireAmounts(topology, objective ?? 'pairs')
  let slots: Uint8Array | null = null
  if (exchange.me === 0) {
    const { slotOf } = mapTopology(topology, {
      ...{ nodeOfSlot, mostWork: reorderWork },
      ...(objective === undefined ? {} : { objective }),
      ...(ofNodes === undefined ? {} : { distance: hopsBetween(ofNodes) }),
    })
    slots = bytesOf(slotOf.every((slot, v) => slot === v) ? new Int32Array(0) : slotOf)
  }
  const slotOf = wordsOf(await bcastBytes(exchange, 0, slots, bcastStep))
  return slotOf.length === 0 ? null : slotOf
}
