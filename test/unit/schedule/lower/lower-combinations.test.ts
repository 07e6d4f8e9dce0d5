import { describe, expect, test } from 'vitest'
import { algorithmOf } from '../../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { specificationOf } from '../../../../src/collective/patterns/specification-of.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { partialResult, type Schedule } from '../../../../src/schedule/ir.js'
import { lower, lowerInRounds } from '../../../../src/schedule/lower/lower.js'
import type { ProcessProgram } from '../../../../src/schedule/lower/program.js'
import { roundsByPhase } from '../../../../src/schedule/lower/rounds.js'
import type { Collective } from '../../../../src/schedule/specification.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { interpret } from '../../../support/lowered-interpreter.js'

function builderOf(collective: Collective, ranks: number, segments = 1): ScheduleBuilder {
  return new ScheduleBuilder({
    specification: specificationOf({ collective }, { ranks, segments }),
    strategy: 'hand-made',
  })
}

const partial = partialResult(0)

/** What the slots hold: `a` + rank is contributed, `(l r)` combined. */
function slotsOf(schedule: Schedule, placement: readonly number[]): string[][] {
  const { slots } = interpret(
    lower(schedule, Int32Array.from(placement)),
    (rank, place) => `${rank}.${place}`,
    {
      combine: (left, right) => `(${left} ${right})`,
    },
  )
  return slots.map((row) => [...row].sort(([a], [b]) => a - b).map(([, value]) => value))
}

/** Ranks 0 and 1 exchange what they contribute; both combine it in rank order. */
function pairAllreduce(): Schedule {
  const builder = builderOf('allreduce', 2)
  for (const rank of [0, 1]) {
    const from = builder.stage(rank)
    builder.send(rank, 0, 1 - rank).add(rank, 0)
    builder.receive(rank, 0, 1 - rank).add(1 - rank, from)
    const [left, right] = rank === 0 ? [0, from] : [from, 0]
    builder.combine(rank, 0, 0, left, right, builder.slot(rank, 0))
  }
  return builder.build()
}

describe('combinations', () => {
  test('wait for the frames that bring their operands, and keep left and right', () => {
    const [first, second] = lower(pairAllreduce(), Int32Array.of(0, 1)).programs as [
      ProcessProgram,
      ProcessProgram,
    ]
    for (const { valueTerm, dependencies, receive } of [first, second]) {
      expect([...valueTerm].slice(2)).toEqual([partial])
      expect([...receive.valueStart]).toEqual([1, 2])
      // Tasks: frame 0, which carries what is contributed, and the combination, which waits for receive 0.
      expect([...dependencies.needs]).toEqual([0, 1])
      expect([...dependencies.use]).toEqual([1])
    }
    expect([first.combine.left[0], first.combine.right[0]]).toEqual([0, 1])
    expect([second.combine.left[0], second.combine.right[0]]).toEqual([1, 0])
    expect([first.fillStart[2], first.fillStart[3]]).toEqual([0, 1])
    expect(slotsOf(pairAllreduce(), [0, 1])).toEqual([['(0.0 1.0)'], ['(0.0 1.0)']])
  })

  test('of ranks of one process wait for nothing, and nothing is sent', () => {
    const [program] = lower(pairAllreduce(), Int32Array.of(0, 0)).programs as [ProcessProgram]
    expect(program.counts).toMatchObject({ framesSent: 0, framesReceived: 0, messagesInside: 2 })
    expect([...program.valueTerm]).toEqual([0, 1, partial, partial])
    expect([...program.dependencies.needs]).toEqual([0, 0])
    expect(slotsOf(pairAllreduce(), [0, 0])).toEqual([['(0.0 1.0)'], ['(0.0 1.0)']])
  })

  test('follow the receives of their round where phases differ between both ends', () => {
    const builder = builderOf('reduce', 3)
    const [at0, at1, sum] = [builder.stage(0), builder.stage(1), builder.stage(1)]
    builder.send(2, 0, 1).add(2, 0)
    builder.receive(1, 0, 2).add(2, at1)
    builder.combine(1, 0, 0, 0, at1, sum)
    // What rank 0 expects in phase 0 leaves in phase 1.
    builder.send(1, 1, 0).add(partial, sum)
    builder.receive(0, 0, 1).add(partial, at0)
    builder.combine(0, 0, 0, 0, at0, builder.slot(0, 0))
    const schedule = builder.build()
    expect(verify(schedule).violations).toEqual([])
    for (const placement of [
      [0, 1, 2],
      [0, 1, 1],
    ])
      expect(slotsOf(schedule, placement)).toEqual([['(0.0 (1.0 2.0))'], [], []])
  })

  test('reach the place of their message where sender and receiver list tags in other orders', () => {
    const builder = builderOf('allreduce', 2, 2)
    const from = [builder.stage(0), builder.stage(0)] as const
    for (const [part, place] of from.entries()) {
      builder.send(1, 0, 0, part).add(2 + part, part)
      builder.receive(0, 0, 1, part).add(2 + part, place)
      builder.combine(0, 0, part, part, place, builder.slot(0, part))
    }
    for (const part of [0, 1]) builder.send(0, 1, 1, 9 - part).add(partialResult(part), builder.slot(0, part))
    for (const part of [1, 0])
      builder.receive(1, 1, 0, 9 - part).add(partialResult(part), builder.slot(1, part))
    const schedule = builder.build()
    expect(verify(schedule).violations).toEqual([])
    const results = ['(0.0 1.0)', '(0.1 1.1)']
    expect(slotsOf(schedule, [0, 1])).toEqual([results, results])
  })

  test('wait once for a frame that brings both operands', () => {
    const builder = builderOf('reduce', 3)
    const places = [builder.stage(0), builder.stage(0), builder.stage(0)]
    for (const rank of [1, 2]) {
      builder.send(rank, 0, 0).add(rank, 0)
      builder.receive(0, 0, rank).add(rank, places[rank - 1])
    }
    builder.combine(0, 0, 0, places[0], places[1], places[2])
    builder.combine(0, 0, 0, 0, places[2], builder.slot(0, 0))
    const schedule = builder.build()
    const [root] = lower(schedule, Int32Array.of(0, 1, 1)).programs as [ProcessProgram]
    expect([...root.dependencies.needs]).toEqual([1, 1])
    expect(slotsOf(schedule, [0, 1, 1])[0]).toEqual(['(0.0 (1.0 2.0))'])
    expect(slotsOf(schedule, [0, 1, 2])[0]).toEqual(['(0.0 (1.0 2.0))'])
  })
})

describe('partial results in a frame', () => {
  /**
   * Ranks 0 and 1 each have a partial result and send it to ranks 2 and 3, rank 1 with two tags; rank 1 also
   * sends its block. The receivers list their receives in another order.
   */
  function schedule(): Schedule {
    const builder = builderOf('allreduce', 4)
    const held = [0, 1].map((rank) => {
      const place = builder.stage(rank)
      builder.combine(rank, 0, 0, 0, 0, place)
      return place
    })
    const sends = [
      [1, 3, 7],
      [0, 2, 0],
      [1, 3, 2],
      [1, 2, 0],
      [0, 3, 0],
    ] as const
    for (const [from, to, tag] of sends) builder.send(from, 1, to, tag).add(partial, held[from])
    builder.send(1, 1, 2, 9).add(1, 0)
    builder.receive(2, 1, 1, 9).add(1, builder.stage(2))
    for (const [from, to, tag] of [...sends].reverse()) {
      builder.receive(to, 1, from, tag).add(partial, builder.stage(to))
    }
    // Ranks 2 and 3 combine all that they got, in the order in which it was sent.
    const first = builder.slot(2, 1)
    builder.combine(2, 2, 0, first + 2, first + 1, builder.slot(2, 0))
    builder.combine(3, 2, 0, first + 2, first + 1, builder.stage(3))
    builder.combine(3, 2, 0, first + 3, first, builder.slot(3, 0))
    for (const rank of [0, 1]) builder.copy(rank, 0).add(partial, held[rank], builder.slot(rank, 0))
    return builder.build()
  }

  test('follow the blocks, by sender, receiver, tag and order, on both ends', () => {
    const [sender, receiver] = lower(schedule(), Int32Array.of(0, 0, 1, 1)).programs as [
      ProcessProgram,
      ProcessProgram,
    ]
    expect(Array.from(sender.send.value, (value) => sender.valueTerm[value])).toEqual([
      1,
      ...Array(5).fill(-1),
    ])
    const [own, first] = [2, sender.combine.firstValue]
    expect([...sender.send.value]).toEqual([1, first, first, first + 1, first + 1, first + 1])
    expect([...receiver.valueTerm].slice(own, own + 6)).toEqual([1, ...Array(5).fill(partial)])
  })

  test('reach the ranks for which they are, on every placement', () => {
    const expected = slotsOf(schedule(), [0, 1, 2, 3])
    expect(expected[2]).toEqual(['((0.0 0.0) (1.0 1.0))'])
    for (const placement of [
      [0, 0, 1, 1],
      [0, 1, 0, 1],
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ]) {
      expect(slotsOf(schedule(), placement)).toEqual(expected)
    }
  })

  test('that the process does not have are ERR_SCHEDULE', () => {
    const send = builderOf('allreduce', 2)
    send.send(0, 0, 1).add(partial, send.stage(0))
    send.receive(1, 0, 0).add(partial, send.slot(1, 0))
    const slot = builderOf('allreduce', 2)
    const operand = builderOf('allreduce', 2)
    for (const rank of [0, 1]) operand.combine(rank, 0, 0, 0, operand.stage(rank), operand.slot(rank, 0))
    for (const builder of [send, slot, operand]) {
      const built = builder.build()
      for (const placement of [Int32Array.of(0, 0), Int32Array.of(0, 1)]) {
        expect(() => lower(built, placement)).toThrow(
          expect.objectContaining({ code: 'ERR_SCHEDULE', details: expect.objectContaining({ part: 0 }) }),
        )
      }
    }
  })
})

test('a program takes memory for what its own ranks do: 1,000 segments, 64 ranks', () => {
  const shape = { ranks: 64, segments: 1_000 }
  const placement = Int32Array.from({ length: 64 }, (_, rank) => rank)
  for (const id of ['bcast-chain', 'reduce-chain']) {
    const part = scheduleOf(algorithmOf(id), shape, [33])
    const program = lowerInRounds(part, placement, 33, roundsByPhase(part))
    expect(program.counts).toMatchObject({ framesSent: 1_000, framesReceived: 1_000 })
    expect(program.rounds).toBeGreaterThan(1_000)
    expect(elements(program)).toBeLessThan(20 * part.opKind.length + 200)
  }
})

/** Numbers in all arrays of a program. */
function elements(of: object): number {
  return Object.values(of).reduce<number>((sum, held) => {
    if (held instanceof Int32Array) return sum + held.length
    return typeof held === 'object' ? sum + elements(held as object) : sum
  }, 0)
}
