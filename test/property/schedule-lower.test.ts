import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NeighborScheduleBuilder } from '../../src/schedule/builder.js'
import { type NeighborSchedule, opKind } from '../../src/schedule/ir.js'
import { lower, lowerInRounds, lowerProcess } from '../../src/schedule/lower/lower.js'
import { roundsByPhase } from '../../src/schedule/lower/rounds.js'
import { verify } from '../../src/schedule/verify/verify.js'
import { countMessages, forEachOperation } from '../../src/schedule/walk.js'
import { interpret } from '../support/lowered-interpreter.js'
import { collectiveWishes, randomReduction } from '../support/random-collectives.js'
import { plans } from '../support/random-plans.js'
import { interpretSchedule } from '../support/schedule-interpreter.js'
import { cases } from '../support/soak.js'

/** Runs the lowered schedule with payloads that name their origin and compares with the definition. */
function run(schedule: NeighborSchedule, placement: Int32Array, processes: number) {
  const lowered = lower(schedule, placement, processes)
  const result = interpret(lowered, (rank, place) => `${rank}.${place}`)
  const { ranks, inStart, inRank } = schedule.topology
  for (let rank = 0; rank < ranks; rank++) {
    const expected = Array.from(inRank.subarray(inStart[rank], inStart[rank + 1]), (source) => `${source}.0`)
    expect(Array.from(expected, (_, slot) => result.slots[rank].get(slot))).toEqual(expected)
    expect(result.slots[rank].size).toBe(expected.length)
  }
  return { ...result, lowered }
}

/** The same operations with idle phases between, as many as each rank likes: messages no longer share phases. */
function withIdlePhases(schedule: NeighborSchedule, idle: readonly number[]): NeighborSchedule {
  const phaseOf = (rank: number, phase: number): number => {
    let at = phase
    for (let f = 0; f <= phase; f++) at += idle[(rank * schedule.phases + f) % idle.length]
    return at
  }
  const most = Math.max(0, ...idle)
  const builder = new NeighborScheduleBuilder({ ...schedule, phases: schedule.phases * (most + 1) })
  for (let rank = 0; rank < schedule.topology.ranks; rank++) builder.stage(rank, schedule.staging[rank])
  forEachOperation(schedule, (op, rank, phase) => {
    const at = phaseOf(rank, phase)
    if (schedule.opKind[op] === opKind.send) builder.send(rank, at, schedule.opPeer[op], schedule.opTag[op])
    else if (schedule.opKind[op] === opKind.receive) {
      builder.receive(rank, at, schedule.opPeer[op], schedule.opTag[op])
    } else builder.copy(rank, at)
    for (let e = schedule.entryStart[op]; e < schedule.entryStart[op + 1]; e++) {
      const [from, to] = [schedule.entryFrom[e], schedule.entryTo[e]]
      builder.add(schedule.entryBlock[e], from === -1 ? to : from, to)
    }
  })
  return builder.build()
}

const placements = (ranks: number): fc.Arbitrary<{ placement: Int32Array; processes: number }> =>
  fc
    .integer({ min: 1, max: ranks + 1 })
    .chain((processes) =>
      fc
        .array(fc.integer({ min: 0, max: processes - 1 }), { minLength: ranks, maxLength: ranks })
        .map((process) => ({ placement: Int32Array.from(process), processes })),
    )

const placed = plans.chain((schedule) =>
  fc.record({ schedule: fc.constant(schedule), where: placements(schedule.topology.ranks) }),
)

describe('a lowered plan', () => {
  test('delivers on every placement, and every process computes its program alone', () => {
    fc.assert(
      fc.property(placed, ({ schedule, where: { placement, processes } }) => {
        expect(verify(schedule).violations).toEqual([])
        const { lowered, messagesSent, framesSent } = run(schedule, placement, processes)
        let inside = 0
        for (const program of lowered.programs) {
          expect(lowerProcess(schedule, placement, program.process)).toEqual(program)
          inside += program.counts.messagesInside
        }
        expect(messagesSent + inside).toBe(countMessages(schedule).messages)
        expect(framesSent).toBeLessThanOrEqual(processes * (processes - 1) * schedule.phases)
      }),
      { numRuns: cases(1_000) },
    )
  })

  test('on one rank per process sends the messages of the plan', () => {
    fc.assert(
      fc.property(plans, (schedule) => {
        const placement = Int32Array.from({ length: schedule.topology.ranks }, (_, rank) => rank)
        const { messagesSent, framesSent, lowered } = run(schedule, placement, placement.length)
        expect(messagesSent).toBe(countMessages(schedule).messages)
        const distinct = new Set<string>()
        forEachOperation(schedule, (op, rank, phase) => {
          if (schedule.opKind[op] === opKind.send) distinct.add(`${rank} ${schedule.opPeer[op]} ${phase}`)
        })
        expect(framesSent).toBe(distinct.size)
        for (const { counts, ranks } of lowered.programs) {
          expect([counts.messagesInside, ranks.length]).toEqual([0, 1])
        }
      }),
      { numRuns: cases(300) },
    )
  })

  test('delivers when messages are sent and received in different phases', () => {
    const idle = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 24 })
    fc.assert(
      fc.property(placed, idle, ({ schedule, where: { placement, processes } }, pauses) => {
        const stretched = withIdlePhases(schedule, pauses)
        expect(verify(stretched).violations).toEqual([])
        run(stretched, placement, processes)
      }),
      { numRuns: cases(500) },
    )
  })
})

describe('a lowered reduction', () => {
  const placedWish = collectiveWishes.chain((wish) =>
    fc.record({ wish: fc.constant(wish), where: placements(wish.ranks), seed: fc.integer() }),
  )
  const contribution = (rank: number, place: number) => `${rank}.${place}`
  const combine = (left: string, right: string, term: number) => `(${left} ${right})${~term}`

  test('combines the same operands in the same order as the schedule, in any order of events', () => {
    fc.assert(
      fc.property(placedWish, ({ wish, where: { placement, processes }, seed }) => {
        const schedule = randomReduction(wish)
        const expected = interpretSchedule(schedule, contribution, combine)
        const { slots } = interpret(lower(schedule, placement, processes), contribution, { combine, seed })
        expect(slots.map((row) => [...row].sort(([a], [b]) => a - b).map(([, term]) => term))).toEqual(
          expected,
        )
      }),
      { numRuns: cases(500) },
    )
  })

  test('is found by every process from the operations of its own ranks', () => {
    fc.assert(
      fc.property(placedWish, ({ wish, where: { placement, processes } }) => {
        const { programs } = lower(randomReduction(wish), placement, processes)
        for (const program of programs) {
          const part = randomReduction(wish, [...program.ranks])
          const alone = lowerInRounds(part, placement, program.process, roundsByPhase(part))
          expect({ ...alone, rounds: program.rounds }).toEqual(program)
        }
      }),
      { numRuns: cases(300) },
    )
  })
})
