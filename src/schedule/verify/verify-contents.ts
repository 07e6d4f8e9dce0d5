import { opKind, type Schedule } from '../ir.js'
import type { Specification } from '../specification.js'
import { endOfPhase, operationsOfRank } from '../walk.js'
import type { ViolationList } from './violations.js'

const empty = -1

/**
 * Executes every rank symbolically: what each place holds, phase by phase. One rank at a time is enough, because a
 * receive names its blocks, and another check proves that both ends of a message name the same.
 */
export function checkContents(
  schedule: Schedule,
  specification: Specification,
  found: ViolationList,
  ranks: Iterable<number> = schedule.staging.keys(),
): void {
  const { ownStart, ownBlock, slotStart, slotTerm } = specification
  let most = 0
  for (let rank = 0; rank < specification.ranks; rank++) {
    if (!usesItsStaging(schedule, rank)) continue
    const own = ownStart[rank + 1] - ownStart[rank]
    most = Math.max(most, own + slotStart[rank + 1] - slotStart[rank] + schedule.staging[rank])
  }
  const everywhere: Places = { holds: new Int32Array(most), isRead: new Uint8Array(most) }

  for (const rank of ranks) {
    const own = ownStart[rank + 1] - ownStart[rank]
    const slots = slotStart[rank + 1] - slotStart[rank]
    const places = own + slots + schedule.staging[rank]
    const used = usesItsStaging(schedule, rank) ? cleared(everywhere, places) : { holds: [], isRead: [] }
    const { holds, isRead } = used
    for (let i = 0; i < own; i++) holds[i] = ownBlock[ownStart[rank] + i]
    const [from, to] = operationsOfRank(schedule, rank)
    for (let op = from; op < to; ) {
      const end = endOfPhase(schedule, op, to)
      executePhase(schedule, rank, op, end, own, used, found)
      op = end
    }
    for (let slot = 0; slot < slots; slot++) {
      const expected = slotTerm[slotStart[rank] + slot]
      const held = holds[own + slot] ?? empty
      if (held === empty) {
        found.add(
          'slot-missing',
          rank,
          null,
          () => `slot ${slot} of rank ${rank} never gets block ${expected}`,
        )
      } else if (held !== expected) {
        found.add(
          'slot-wrong',
          rank,
          null,
          () => `slot ${slot} of rank ${rank} ends with block ${held}, not with block ${expected}`,
        )
      }
    }
    const checkUse = (place: number): void => {
      const held = holds[place]
      if (place < own + slots || held === empty || isRead[place] === 1) return
      found.add(
        'unused-delivery',
        rank,
        null,
        () => `rank ${rank} gets block ${held} in temporary place ${place} and never uses it`,
      )
    }
    if (Array.isArray(holds)) for (const place of Object.keys(holds)) checkUse(Number(place))
    else for (let place = own + slots; place < places; place++) checkUse(place)
  }
}

/** By place; arrays of a rank with more places than it can use have holes instead of empty places. */
interface Places {
  readonly holds: Int32Array | number[]
  readonly isRead: Uint8Array | number[]
}

function cleared(places: Places, count: number): Places {
  places.holds.fill(empty, 0, count)
  places.isRead.fill(0, 0, count)
  return places
}

/** A rank may claim any number of temporary places: memory is bounded by what its operations can touch. */
function usesItsStaging({ staging, opStart, entryStart }: Schedule, rank: number): boolean {
  const entries = entryStart[opStart[rank + 1]] - entryStart[opStart[rank]]
  return staging[rank] <= 2 * entries
}

/** Sends read what the places held when the phase began, then receives write, then copies follow in order. */
function executePhase(
  schedule: Schedule,
  rank: number,
  first: number,
  end: number,
  own: number,
  { holds, isRead }: Places,
  found: ViolationList,
): void {
  const { entryStart, entryBlock, entryFrom, entryTo } = schedule
  const phase = schedule.opPhase[first]
  for (let kind: number = opKind.send; kind <= opKind.copy; kind++) {
    for (let op = first; op < end; op++) {
      if (schedule.opKind[op] !== kind) continue
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const block = entryBlock[e]
        if (kind !== opKind.receive) {
          const from = entryFrom[e]
          const held = holds[from] ?? empty
          isRead[from] = 1
          if (held === empty) {
            found.add(
              'place-empty',
              rank,
              phase,
              () =>
                `rank ${rank} reads block ${block} from place ${from} in phase ${phase}, which holds nothing yet`,
            )
          } else if (held !== block) {
            found.add(
              'wrong-block',
              rank,
              phase,
              () =>
                `rank ${rank} reads block ${block} from place ${from} in phase ${phase}, which holds block ${held}`,
            )
          }
        }
        if (kind !== opKind.send) {
          const to = entryTo[e]
          if ((holds[to] ?? empty) !== empty) {
            const what = to < own ? 'holds its own contribution' : `already holds block ${holds[to]}`
            found.add(
              'place-rewritten',
              rank,
              phase,
              () => `rank ${rank} writes block ${block} to place ${to} in phase ${phase}, which ${what}`,
            )
          }
          holds[to] = block
        }
      }
    }
  }
}
