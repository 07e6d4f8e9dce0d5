import { specificationOf } from '../../src/collective/patterns/schedule-of.js'
import { ScheduleBuilder } from '../../src/schedule/builder.js'
import { partialResult, type Schedule } from '../../src/schedule/ir.js'
import type { Collective } from '../../src/schedule/specification.js'

/** Reductions written by hand, independent of the algorithms of the library. */

function builderFor(collective: Collective, ranks: number, segments = 1): ScheduleBuilder {
  const specification = specificationOf({ collective }, { ranks, segments })
  return new ScheduleBuilder({ specification, strategy: 'by hand' })
}

/** Names what a rank holds of a part: its own block, or a partial result. */
const named = (rank: number, part: number, parts: number, isOwn: boolean): number =>
  isOwn ? rank * parts + part : partialResult(part)

/**
 * Recursive doubling over 2^k ranks, as many reductions as there are segments.
 *
 * @param isOrdered whether the left operand is always that of the lower ranks; else it is the rank's own.
 */
export function doublingAllreduce(ranks: number, segments = 1, isOrdered = true): Schedule {
  const builder = builderFor('allreduce', ranks, segments)
  for (let rank = 0; rank < ranks; rank++) {
    for (let part = 0; part < segments; part++) {
      let held = part
      for (let phase = 0; 2 ** phase < ranks; phase++) {
        const peer = rank ^ (2 ** phase)
        const taken = builder.stage(rank)
        const isLast = 2 ** (phase + 1) === ranks
        const result = isLast ? builder.slot(rank, part) : builder.stage(rank)
        builder.send(rank, phase, peer, part).add(named(rank, part, segments, phase === 0), held)
        builder.receive(rank, phase, peer, part).add(named(peer, part, segments, phase === 0), taken)
        const isLower = isOrdered && peer < rank
        builder.combine(rank, phase, part, isLower ? taken : held, isLower ? held : taken, result)
        held = result
      }
      if (ranks === 1) builder.copy(rank, 0).add(part, part, builder.slot(rank, part))
    }
  }
  return builder.build()
}

/** A ring: part p is combined from rank p on around the ring, then passed around. As many parts as ranks. */
export function ringAllreduce(ranks: number): Schedule {
  const builder = builderFor('allreduce', ranks, ranks)
  for (let rank = 0; rank < ranks; rank++) {
    const [before, after] = [(rank + ranks - 1) % ranks, (rank + 1) % ranks]
    for (let step = 0; step < ranks - 1; step++) {
      // Combining: in step s rank r sends what it has of part r - s.
      const sent = (rank - step + 2 * ranks) % ranks
      const taken = (rank - step - 1 + 2 * ranks) % ranks
      const place = builder.stage(rank)
      const result = step === ranks - 2 ? builder.slot(rank, taken) : builder.stage(rank)
      const isOwn = step === 0
      builder.send(rank, step, after).add(named(rank, sent, ranks, isOwn), isOwn ? sent : place - 1)
      builder.receive(rank, step, before).add(named(before, taken, ranks, isOwn), place)
      builder.combine(rank, step, taken, place, taken, result)
    }
    for (let step = 0; step < ranks - 1; step++) {
      const phase = ranks - 1 + step
      const sent = (rank - step + 1 + 2 * ranks) % ranks
      const taken = (rank - step + 2 * ranks) % ranks
      builder.send(rank, phase, after).add(partialResult(sent), builder.slot(rank, sent))
      builder.receive(rank, phase, before).add(partialResult(taken), builder.slot(rank, taken))
    }
    if (ranks === 1) builder.copy(rank, 0).add(0, 0, builder.slot(rank, 0))
  }
  return builder.build()
}

/** A chain: every rank combines what the ranks before it have combined with its own. */
export function chainScan(ranks: number, segments = 1): Schedule {
  const builder = builderFor('scan', ranks, segments)
  for (let rank = 0; rank < ranks; rank++) {
    for (let part = 0; part < segments; part++) {
      const result = builder.slot(rank, part)
      if (rank === 0) builder.copy(0, 0).add(part, part, result)
      else {
        const taken = builder.stage(rank)
        builder.receive(rank, rank + part, rank - 1).add(partialResult(part), taken)
        builder.combine(rank, rank + part, part, taken, part, result)
      }
      if (rank + 1 < ranks) builder.send(rank, rank + part + 1, rank + 1).add(partialResult(part), result)
    }
  }
  return builder.build()
}

/** Dissemination: in phase k every rank passes what it has to the rank 2^k after it. */
export function disseminationBarrier(ranks: number): Schedule {
  const builder = builderFor('barrier', ranks)
  for (let rank = 0; rank < ranks; rank++) {
    let held = 0
    let isOwn = true
    let phase = 0
    for (let distance = 1; distance < ranks; distance *= 2, phase++) {
      const [to, from] = [(rank + distance) % ranks, (rank + ranks - distance) % ranks]
      const taken = builder.stage(rank)
      const result = 2 * distance >= ranks ? builder.slot(rank, 0) : builder.stage(rank)
      builder.send(rank, phase, to).add(named(rank, 0, 1, isOwn), held)
      builder.receive(rank, phase, from).add(named(from, 0, 1, isOwn), taken)
      builder.combine(rank, phase, 0, taken, held, result)
      held = result
      isOwn = false
    }
    if (ranks === 1) builder.copy(rank, 0).add(0, 0, builder.slot(rank, 0))
  }
  return builder.build()
}

/** Rank 0 combines what it gets from all others, one after the other or the last first. */
export function flatReduce(ranks: number, isOrdered = true): Schedule {
  const builder = builderFor('reduce', ranks)
  const others = Array.from({ length: ranks - 1 }, (_, i) => (isOrdered ? i + 1 : ranks - 1 - i))
  let held = 0
  for (const [i, rank] of others.entries()) {
    const taken = builder.stage(0)
    const result = i === ranks - 2 ? builder.slot(0, 0) : builder.stage(0)
    builder.send(rank, 0, 0).add(rank, 0)
    builder.receive(0, 0, rank).add(rank, taken)
    builder.combine(0, 0, 0, held, taken, result)
    held = result
  }
  if (ranks === 1) builder.copy(0, 0).add(0, 0, builder.slot(0, 0))
  return builder.build()
}

/**
 * Recursive halving over 2^k ranks: in each phase a rank keeps half of its parts, those of its half of the
 * ranks.
 */
export function halvingReduceScatter(ranks: number): Schedule {
  const builder = builderFor('reduce-scatter', ranks)
  for (let rank = 0; rank < ranks; rank++) {
    const held = Array.from({ length: ranks }, (_, part) => part)
    let phase = 0
    for (let distance = ranks / 2; distance >= 1; distance /= 2, phase++) {
      const peer = rank ^ distance
      const first = rank - (rank % (2 * distance))
      const isUpper = (rank & distance) !== 0
      const kept = (part: number): boolean => (part & distance) === (rank & distance)
      const parts = Array.from({ length: 2 * distance }, (_, i) => first + i)
      builder.send(rank, phase, peer)
      for (const part of parts.filter((p) => !kept(p)))
        builder.add(named(rank, part, ranks, phase === 0), held[part])
      builder.receive(rank, phase, peer)
      const taken = new Map<number, number>()
      for (const part of parts.filter(kept)) {
        taken.set(part, builder.stage(rank))
        builder.add(named(peer, part, ranks, phase === 0), taken.get(part)!)
      }
      for (const [part, place] of taken) {
        const result = distance === 1 ? builder.slot(rank, 0) : builder.stage(rank)
        const [left, right] = isUpper ? [place, held[part]] : [held[part], place]
        builder.combine(rank, phase, part, left, right, result)
        held[part] = result
      }
    }
    if (ranks === 1) builder.copy(rank, 0).add(0, 0, builder.slot(rank, 0))
  }
  return builder.build()
}
