import { NeighborScheduleBuilder } from '../../schedule/builder.js'
import { type NeighborSchedule, scheduleTag } from '../../schedule/ir.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { ownPlace, ReceiveSlots } from './receive-slots.js'
import type { StrategyKind } from './strategy-kind.js'

/** Sends one message per distinct edge. */
export interface Direct {
  readonly kind: 'direct'
}

export const direct: StrategyKind<Direct> = {
  help: 'direct   one message per pair of ranks that share an edge',
  options: {},
  planningLimit: 2 ** 16,
  route: () => ({ hops: 1, hop: (_h, _source, destination) => destination }),
  schedule: (_strategy, { topology }) => ({ schedule: directSchedule(topology), groups: null }),
  place: 0,
  candidates: () => [{ kind: 'direct' }],
}

/**
 * Plans direct sends: every rank sends its block to every distinct out-neighbor except itself, in one phase. Parallel
 * edges and self loops are copies at the receiver.
 *
 * @param ranks whose operations are emitted, ascending. Default: all.
 * @see Ghazimirsaeed 2019 §2.2.6
 */
export function directSchedule(
  topology: ProcessTopology,
  ranks: Iterable<number> = Array(topology.ranks).keys(),
): NeighborSchedule {
  const builder = new NeighborScheduleBuilder({ topology, strategy: 'direct', phases: 1 })
  const out = distinctOut(topology)
  const slots = new ReceiveSlots(builder, topology)
  for (const rank of ranks) {
    slots.enter(rank)
    for (let e = out.start[rank]; e < out.start[rank + 1]; e++) {
      builder.send(rank, 0, out.rank[e], scheduleTag.direct).add(rank, ownPlace)
    }
    for (let i = 0; i < slots.sourceCount; i++) {
      const source = slots.sources[i]
      builder.receive(rank, 0, source, scheduleTag.direct).add(source, slots.placeOf(source))
    }
    slots.copyRest(0)
  }
  return builder.build()
}
