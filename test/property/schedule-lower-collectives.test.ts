import fc from 'fast-check'
import { algorithms, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { lower, lowerInRounds } from '../../src/schedule/lower/lower.js'
import { roundsByPhase } from '../../src/schedule/lower/rounds.js'
import { idlePhases, withIdlePhases } from '../support/idle-phases.js'
import { interpret } from '../support/lowered-interpreter.js'
import { collectiveWishes, randomReduction } from '../support/random-collectives.js'
import { placements, type RandomPlacement } from '../support/random-placements.js'
import { withWaits } from '../support/random-waits.js'
import { chooseBy } from '../support/schedule-faults.js'
import { cases } from '../support/soak.js'
import { interpret as execute, type Value } from '../support/value-interpreter.js'

/** A collective that can be emitted for some of its ranks. */
interface Emitted {
  readonly what: string
  readonly ranks: number
  emit(ranks?: readonly number[]): Schedule
}

const ofLibrary: fc.Arbitrary<Emitted> = fc
  .record({
    ranks: fc.integer({ min: 1, max: 17 }),
    segments: fc.integer({ min: 1, max: 3 }),
    draw: fc.nat(),
  })
  .chain(({ ranks, segments, draw }) => {
    const shape = { ranks, root: draw % ranks, segments }
    const serving = algorithms.filter(({ refuses }) => (refuses?.(shape) ?? null) === null)
    return fc.constantFrom(...serving).map((algorithm) => ({
      what: algorithm.id,
      ranks,
      emit: (only?: readonly number[]) => scheduleOf(algorithm, shape, only),
    }))
  })

const atRandom: fc.Arbitrary<Emitted> = collectiveWishes.map((wish) => ({
  what: 'random',
  ranks: wish.ranks,
  emit: (only?: readonly number[]) => randomReduction(wish, only),
}))

const placed = fc
  .oneof({ weight: 3, arbitrary: ofLibrary }, { weight: 1, arbitrary: atRandom })
  .chain((emitted) => fc.record({ emitted: fc.constant(emitted), where: placements(emitted.ranks) }))

/** Whether the programs leave in every slot what the schedule does. */
function expectSameSlots(schedule: Schedule, { placement, processes }: RandomPlacement, seed: number): void {
  const { ownStart, ownBlock } = schedule.specification
  const { slots, faults } = execute(schedule)
  expect(faults).toEqual([])
  const run = interpret<Value>(
    lower(schedule, placement, processes),
    (rank, place) => ownBlock[ownStart[rank] + place],
    { combine: (left, right) => [left, right], seed },
  )
  expect(run.slots.map((row, rank) => slots[rank].map((_, slot) => row.get(slot)))).toEqual(slots)
  expect(run.slots.map(({ size }) => size)).toEqual(slots.map(({ length }) => length))
}

describe('a lowered collective', () => {
  test('leaves in every slot what its schedule does, in any order of events', () => {
    fc.assert(
      fc.property(placed, fc.integer(), fc.boolean(), ({ emitted, where }, seed, waits) => {
        const schedule = emitted.emit()
        expectSameSlots(waits ? withWaits(schedule, chooseBy(seed)) : schedule, where, seed)
      }),
      { numRuns: cases(600, 250) },
    )
  })

  test('does so when messages are sent and received in different phases', () => {
    fc.assert(
      fc.property(placed, idlePhases, fc.integer(), fc.boolean(), ({ emitted, where }, idle, seed, waits) => {
        const schedule = withIdlePhases(emitted.emit(), idle)
        expectSameSlots(waits ? withWaits(schedule, chooseBy(seed)) : schedule, where, seed)
      }),
      { numRuns: cases(300, 120) },
    )
  })

  test('is found by every process from the operations of its own ranks', () => {
    fc.assert(
      fc.property(placed, ({ emitted, where: { placement, processes } }) => {
        const { programs } = lower(emitted.emit(), placement, processes)
        for (const program of programs) {
          const part = emitted.emit([...program.ranks])
          const alone = lowerInRounds(part, placement, program.process, roundsByPhase(part))
          expect({ ...alone, rounds: program.rounds }).toEqual(program)
        }
      }),
      { numRuns: cases(300, 120) },
    )
  })
})
