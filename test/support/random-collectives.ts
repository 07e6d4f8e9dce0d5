import fc from 'fast-check'
import { below, mulberry32 } from '../../src/base/random.js'
import { specificationOf } from '../../src/collective/patterns/schedule-of.js'
import { ScheduleBuilder } from '../../src/schedule/builder.js'
import { partialResult, type Schedule } from '../../src/schedule/ir.js'

/** What a random collective is made of: equal wishes give equal schedules. */
export interface CollectiveWish {
  readonly ranks: number
  readonly segments: number
  readonly seed: number
  /** Results on all ranks, or on one. */
  readonly everywhere: boolean
}

export const collectiveWishes: fc.Arbitrary<CollectiveWish> = fc.record({
  ranks: fc.integer({ min: 1, max: 9 }),
  segments: fc.integer({ min: 1, max: 4 }),
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  everywhere: fc.boolean(),
})

/**
 * Where a block or partial result is, and the first phases in which copies and combinations, and sends, may
 * read it.
 */
interface Held {
  readonly rank: number
  readonly place: number
  readonly read: number
  readonly send: number
  readonly name: number
}

/**
 * A reduction of every segment along a random tree of neighbors in rank order, then spread along random
 * edges: from a holder to a rank without it. Phases are as early as possible or later; messages are received
 * in the phase in which they are sent.
 *
 * @param only whose operations are emitted. Default: all.
 */
export function randomReduction(
  { ranks, segments, seed, everywhere }: CollectiveWish,
  only?: readonly number[],
): Schedule {
  const random = mulberry32(seed)
  const shape = { ranks, root: below(random, ranks), segments }
  const collective = everywhere ? 'allreduce' : 'reduce'
  const specification = specificationOf({ collective }, shape, only)
  const builder = new ScheduleBuilder({ specification, strategy: 'random' })
  const emits = (rank: number): boolean => only === undefined || only.includes(rank)
  // Places are counted here, because a builder of some ranks does not know the others' slots.
  const staged = new Int32Array(ranks)
  const stage = (rank: number): number => {
    const own = segments
    const slots = everywhere || rank === shape.root ? segments : 0
    if (emits(rank)) builder.stage(rank)
    return own + slots + staged[rank]++
  }
  const message = (from: Held, to: number, place: number): Held => {
    const phase = from.send + below(random, 3)
    const tag = below(random, 2)
    if (emits(from.rank)) builder.send(from.rank, phase, to, tag).add(from.name, from.place)
    if (emits(to)) builder.receive(to, phase, from.rank, tag).add(from.name, place)
    return { rank: to, place, read: phase, send: phase + 1, name: from.name }
  }
  for (let part = 0; part < segments; part++) {
    let held: Held[] = Array.from({ length: ranks }, (_, rank) => {
      const phase = below(random, 2)
      return { rank, place: part, read: phase, send: phase, name: rank * segments + part }
    })
    const isTarget = (rank: number): boolean => everywhere || rank === shape.root
    while (held.length > 1) {
      const i = below(random, held.length - 1)
      const [left, right] = [held[i], held[i + 1]]
      const at = below(random, 2) === 0 ? left.rank : right.rank
      const there = (one: Held): Held => (one.rank === at ? one : message(one, at, stage(at)))
      const [a, b] = [there(left), there(right)]
      const phase = Math.max(a.read, b.read)
      const isLast = held.length === 2 && isTarget(at)
      const place = isLast ? segments + part : stage(at)
      if (emits(at)) builder.combine(at, phase, part, a.place, b.place, place)
      held = [
        ...held.slice(0, i),
        { rank: at, place, read: phase, send: phase + 1, name: partialResult(part) },
        ...held.slice(i + 2),
      ]
    }
    const result = held[0]
    const holders = [result]
    const targets = Array.from({ length: ranks }, (_, rank) => rank).filter(isTarget)
    // A contribution that is the result, of an only rank, is copied to its slot.
    if (result.place < segments && emits(result.rank)) {
      builder.copy(result.rank, result.read).add(result.name, result.place, segments + part)
    }
    const left = targets.filter((rank) => rank !== result.rank)
    while (left.length > 0) {
      const [to] = left.splice(below(random, left.length), 1)
      const from = holders[below(random, holders.length)]
      holders.push(message(from, to, segments + part))
    }
  }
  return builder.build()
}
