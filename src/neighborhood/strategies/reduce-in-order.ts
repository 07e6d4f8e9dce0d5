import { NeighborScheduleBuilder } from '../../schedule/builder.js'
import { type NeighborSchedule, opKind } from '../../schedule/ir.js'

/**
 * Plans a neighbor reduction in list order from a neighbor allgather. Blocks travel as there, and every rank combines
 * those of its sources from first to last. So it serves operations that are not commutative, or not associative to the
 * bit, as on floating-point numbers.
 */
export function reduceInOrder(allgather: NeighborSchedule): NeighborSchedule {
  const { topology, strategy, parameters, phases, staging, opStart, entryStart } = allgather
  const { inStart } = topology
  const builder = new NeighborScheduleBuilder({
    topology,
    collective: 'neighbor-reduce',
    strategy,
    parameters,
    phases,
  })
  for (let rank = 0; rank < topology.ranks; rank++) {
    const sources = inStart[rank + 1] - inStart[rank]
    // The slots and temporary places of the allgather become temporary places behind the slot.
    const shift = sources > 0 ? 1 : 0
    builder.stage(rank, sources + staging[rank])
    const placeOf = (place: number): number => (place === 0 ? 0 : place + shift)
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      const phase = allgather.opPhase[op]
      const kind = allgather.opKind[op]
      if (kind === opKind.copy) builder.copy(rank, phase)
      else {
        const name = kind === opKind.send ? 'send' : 'receive'
        builder[name](rank, phase, allgather.opPeer[op], allgather.opTag[op])
      }
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const [from, to] = [allgather.entryFrom[e], allgather.entryTo[e]]
        const block = allgather.entryBlock[e]
        if (kind === opKind.copy) builder.add(block, placeOf(from), placeOf(to))
        else builder.add(block, placeOf(kind === opKind.send ? from : to))
      }
    }
    if (sources === 0) continue
    const last = Math.max(0, phases - 1)
    const slot = builder.slot(rank, 0)
    const first = slot + 1
    if (sources === 1) builder.copy(rank, last).add(topology.inRank[inStart[rank]], first, slot)
    let left = first
    for (let source = 1; source < sources; source++) {
      const to = source === sources - 1 ? slot : builder.stage(rank)
      builder.combine(rank, last, 0, left, first + source, to)
      left = to
    }
  }
  return builder.build()
}
