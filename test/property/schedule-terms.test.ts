import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { algorithms } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { opKind, type Schedule } from '../../src/schedule/ir.js'
import { verify, verifySlice } from '../../src/schedule/verify/verify.js'
import type { ViolationCode } from '../../src/schedule/verify/violations.js'
import { operationsOf, withOperations } from '../support/operation-list.js'
import { randomReduction } from '../support/random-collectives.js'
import {
  chainScan,
  disseminationBarrier,
  doublingAllreduce,
  flatReduce,
  halvingReduceScatter,
  ringAllreduce,
} from '../support/reduction-schedules.js'
import { type Choose, chooseBy } from '../support/schedule-faults.js'
import { malformedMutantOf, mutantOf } from '../support/schedule-mutants.js'
import { cases, demanded } from '../support/soak.js'
import { outcomeOf } from '../support/value-interpreter.js'

/** A schedule of the library; of another algorithm where one cannot serve the shape. */
function ofAlgorithm(choose: Choose): Schedule {
  const ranks = 1 + choose(8)
  const shape = { ranks, root: choose(ranks), segments: 1 + choose(3) }
  const serving = algorithms.filter(({ refuses }) => (refuses?.(shape) ?? null) === null)
  return scheduleOf(serving[choose(serving.length)], shape)
}

const made: readonly ((choose: Choose) => Schedule)[] = [
  (choose) => doublingAllreduce(2 ** choose(4), 1 + choose(2), choose(2) === 0),
  (choose) => ringAllreduce(1 + choose(6)),
  (choose) => chainScan(1 + choose(6), 1 + choose(3)),
  (choose) => disseminationBarrier(1 + choose(9)),
  (choose) => flatReduce(1 + choose(6), choose(2) === 0),
  (choose) => halvingReduceScatter(2 ** choose(4)),
  (choose) =>
    randomReduction({
      ranks: 1 + choose(7),
      segments: 1 + choose(2),
      seed: choose(2 ** 30),
      everywhere: choose(2) === 0,
    }),
  ...Array(6).fill(ofAlgorithm),
]

/** A schedule of a collective, and further choices. */
const schedules = fc.record({ of: fc.nat(made.length - 1), seed: fc.integer() }).map(({ of, seed }) => {
  const choose = chooseBy(seed)
  return { schedule: made[of](choose), choose }
})

/**
 * Violations of what a schedule says of itself, and of how messages progress without buffers: values do not
 * show them.
 */
const notOfValues: readonly ViolationCode[] = [
  'structure',
  'blocks-differ',
  'wrong-block',
  'wrong-part',
  'unused-delivery',
  'deadlock',
]

describe('verify and an interpreter that follows values agree', () => {
  test('on every single change that alters what a schedule does', () => {
    let altered = 0
    let harmless = 0
    fc.assert(
      fc.property(schedules, ({ schedule, choose }) => {
        const mutant = mutantOf(schedule, choose)
        if (mutant === null) return
        const { ok, isOrdered, violations } = verify(mutant.schedule)
        const outcome = outcomeOf(mutant.schedule)
        if (outcome.faults.length > 0) altered++
        else harmless++
        if (ok) expect([mutant.name, outcome]).toEqual([mutant.name, { faults: [], isOrdered }])
        else if (!violations.some(({ code }) => notOfValues.includes(code))) {
          expect([mutant.name, outcome.faults.length > 0]).toEqual([mutant.name, true])
        }
      }),
      { numRuns: demanded(12_000, 600) },
    )
    expect(altered).toBeGreaterThan(harmless)
    expect(harmless).toBeGreaterThan(10)
  })
})

test('every slice of a schedule verifies as far as it goes', () => {
  fc.assert(
    fc.property(schedules, ({ schedule, choose }) => {
      const all = Array.from({ length: schedule.specification.ranks }, (_, rank) => rank)
      const ranks = Int32Array.from(all.filter(() => choose(2) === 0))
      const isWhole = ranks.length === all.length
      const only = operationsOf(schedule).filter(({ rank }) => ranks.includes(rank))
      const slice = { schedule: withOperations(schedule, only), ranks, topologyHash: null }
      const { violations, unproven, isOrdered, association } = verifySlice(slice)
      expect(violations).toEqual([])
      expect(unproven.length === 0).toBe(isWhole)
      if (isWhole) expect(verifySlice(slice)).toEqual(verify(schedule))
      else expect(association).toBeNull()
      if (isOrdered && ranks.length > 0) {
        const received = only.some(
          ({ kind, peer, entries }) =>
            kind === opKind.receive && !ranks.includes(peer) && entries.some(({ block }) => block < 0),
        )
        expect(received).toBe(false)
      }
    }),
    { numRuns: cases(100) },
  )
})

test('verify neither throws nor accepts what does not work when one number of any array is changed', () => {
  let rejected = 0
  fc.assert(
    fc.property(schedules, ({ schedule, choose }) => {
      const mutant = malformedMutantOf(schedule, choose)
      const { ok, isOrdered } = verify(mutant.schedule)
      if (ok)
        expect([mutant.name, outcomeOf(mutant.schedule)]).toEqual([mutant.name, { faults: [], isOrdered }])
      else rejected++
    }),
    { numRuns: demanded(12_000, 600) },
  )
  expect(rejected).toBeGreaterThan(demanded(4_000, 200))
})
