import { describe, expect, test } from 'vitest'
import { algorithmOf } from '../../../../src/collective/algorithms.js'
import { scheduleOf, specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { partialResult, type Schedule } from '../../../../src/schedule/ir.js'
import { lower, lowerInRounds } from '../../../../src/schedule/lower/lower.js'
import type { ProcessProgram } from '../../../../src/schedule/lower/program.js'
import { roundsByPhase } from '../../../../src/schedule/lower/rounds.js'
import type { Collective } from '../../../../src/schedule/specification.js'
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
