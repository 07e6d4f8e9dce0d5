import { opKind, type Schedule } from '../../src/schedule/ir.js'
import { pairMessages } from '../../src/schedule/message-pairs.js'
import { endOfPhase } from '../../src/schedule/walk.js'

/**
 * What every slot of every rank holds after a schedule has run as the model says: a rank enters a phase when
 * it has finished the one before, posts its receives and sends, waits for them, then copies and combines in
 * order.
 */
export function interpretSchedule<T>(
  schedule: Schedule,
  contributionOf: (rank: number, place: number) => T,
  combine: (left: T, right: T, term: number) => T,
): T[][] {
  const { opStart, entryStart, entryBlock, entryFrom, entryRight, entryTo, specification } = schedule
  const { ranks, ownStart, slotStart } = specification
  const partner = pairMessages(schedule)
  const places = Array.from({ length: ranks }, (_, rank) => {
    const own = ownStart[rank + 1] - ownStart[rank]
    return new Map(Array.from({ length: own }, (__, place) => [place, contributionOf(rank, place)]))
  })
  const read = (rank: number, place: number): T => {
    if (!places[rank].has(place)) throw new Error(`place ${place} of rank ${rank} is empty`)
    return places[rank].get(place) as T
  }
  const write = (rank: number, place: number, payload: T): void => {
    if (places[rank].has(place)) throw new Error(`place ${place} of rank ${rank} is written twice`)
    places[rank].set(place, payload)
  }
  const mail = new Map<number, T[]>()
  const next = opStart.slice(0, ranks)
  const entered = new Int32Array(ranks).fill(-1)
  const entries = (op: number): number[] =>
    Array.from({ length: entryStart[op + 1] - entryStart[op] }, (_, i) => entryStart[op] + i)

  /** Runs a rank's next phase if its messages are there. */
  const advance = (rank: number): boolean => {
    const from = next[rank]
    if (from === opStart[rank + 1]) return false
    const end = endOfPhase(schedule, from, opStart[rank + 1])
    const ops = Array.from({ length: end - from }, (_, i) => from + i)
    if (entered[rank] !== from) {
      entered[rank] = from
      for (const op of ops) {
        if (schedule.opKind[op] !== opKind.send) continue
        mail.set(
          partner[op],
          entries(op).map((e) => read(rank, entryFrom[e])),
        )
      }
    }
    const receives = ops.filter((op) => schedule.opKind[op] === opKind.receive)
    if (!receives.every((op) => mail.has(op))) return false
    for (const op of receives) {
      for (const [i, e] of entries(op).entries()) write(rank, entryTo[e], mail.get(op)![i] as T)
    }
    for (const op of ops) {
      for (const e of entries(op)) {
        if (schedule.opKind[op] === opKind.copy) write(rank, entryTo[e], read(rank, entryFrom[e]))
        else if (schedule.opKind[op] === opKind.combine) {
          write(rank, entryTo[e], combine(read(rank, entryFrom[e]), read(rank, entryRight[e]), entryBlock[e]))
        }
      }
    }
    next[rank] = end
    return true
  }
  const all = Array.from({ length: ranks }, (_, rank) => rank)
  while (all.some(advance)) {
    // until no rank can continue
  }
  for (const rank of all) if (next[rank] !== opStart[rank + 1]) throw new Error(`rank ${rank} is stuck`)
  return all.map((rank) => {
    const own = ownStart[rank + 1] - ownStart[rank]
    const slots = slotStart[rank + 1] - slotStart[rank]
    return Array.from({ length: slots }, (_, slot) => read(rank, own + slot))
  })
}
