import { describe, expect, test } from 'vitest'
import { specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { partialResult, type Schedule } from '../../../../src/schedule/ir.js'
import type { Collective, Specification } from '../../../../src/schedule/specification.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import {
  chainScan,
  disseminationBarrier,
  doublingAllreduce,
  flatReduce,
  halvingReduceScatter,
  ringAllreduce,
} from '../../../support/reduction-schedules.js'
import { pairsOf } from '../fixtures.js'

/** Code and message of every violation. */
function violationsOf(schedule: Schedule): string[] {
  return verify(schedule).violations.map(({ code, message }) => `${code}: ${message}`)
}

function builderOf(collective: Collective, ranks: number, segments = 1): ScheduleBuilder {
  const specification = specificationOf({ collective }, { ranks, segments })
  return new ScheduleBuilder({ specification, strategy: 'by hand' })
}

/**
 * Rank 0 gets the own block of every other rank and combines places as listed; place -1 is the result of the
 * line before. Own block: place 0, slot: place 1, of rank r from 1 on: place r + 1.
 */
function reduceAtRoot(ranks: number, text: string): Schedule {
  const pairs = pairsOf(text)
  const builder = builderOf('reduce', ranks)
  const first = builder.stage(0, ranks - 1)
  for (let rank = 1; rank < ranks; rank++) {
    builder.send(rank, 0, 0).add(rank, 0)
    builder.receive(0, 0, rank).add(rank, first + rank - 1)
  }
  let result = -1
  for (const [i, [left, right]] of pairs.entries()) {
    const to = i === pairs.length - 1 ? builder.slot(0, 0) : builder.stage(0)
    builder.combine(0, 0, 0, left < 0 ? result : left, right < 0 ? result : right, to)
    result = to
  }
  return builder.build()
}

describe('verify accepts a reduction and says whether it is in rank order', () => {
  test.each([
    ['recursive doubling, lower ranks left', doublingAllreduce(8, 3), true],
    ['recursive doubling, own operand left', doublingAllreduce(8, 3, false), false],
    ['a ring', ringAllreduce(5), false],
    ['a scan along a chain', chainScan(6, 2), true],
    ['a dissemination of a number of ranks that is no power of two', disseminationBarrier(6), false],
    ['all at one rank, ascending', flatReduce(5), true],
    ['all at one rank, descending', flatReduce(5, false), false],
    ['recursive halving', halvingReduceScatter(8), false],
    ['one rank', ringAllreduce(1), true],
    ['operands that are not consecutive until the last', reduceAtRoot(4, '0 3, -1 4, -1 2'), false],
  ])('%s', (_, schedule, isOrdered) => {
    expect(verify(schedule)).toMatchObject({ violations: [], isOrdered })
  })

  test('of ranks that are not consecutive, in the order that the specification demands', () => {
    // Ranks 3 and 1, in this order.
    const base = specificationOf({ collective: 'reduce' }, { ranks: 4 })
    const reductions = {
      isIdempotent: false,
      runStart: Int32Array.of(0, 1),
      first: Int32Array.of(3),
      count: Int32Array.of(2),
      stride: Int32Array.of(-2),
    }
    const specification: Specification = { ...base, reductions }
    const both = (isOrdered: boolean): Schedule => {
      const builder = new ScheduleBuilder({ specification, strategy: 'by hand' })
      const [one, three] = [builder.stage(0), builder.stage(0)]
      for (const [rank, place] of [
        [1, one],
        [3, three],
      ] as const) {
        builder.send(rank, 0, 0).add(rank, 0)
        builder.receive(0, 0, rank).add(rank, place)
      }
      builder.combine(0, 0, 0, isOrdered ? three : one, isOrdered ? one : three, builder.slot(0, 0))
      return builder.build()
    }
    expect(verify(both(true))).toMatchObject({ violations: [], isOrdered: true })
    expect(verify(both(false))).toMatchObject({ violations: [], isOrdered: false })
  })

  test('and demands the order if asked to', () => {
    expect(verify(flatReduce(4), null, { ordered: true }).violations).toEqual([])
    expect(verify(flatReduce(4, false), null, { ordered: true }).violations).toEqual([
      {
        code: 'slot-unordered',
        rank: 0,
        message: 'slot 0 of rank 0 combines ranks in the order 0, 3, 2, 1, not in that of the specification',
      },
    ])
  })
})

describe('verify names the contributors of a wrong reduction', () => {
  test('that are missing', () => {
    expect(violationsOf(reduceAtRoot(5, '0 2, -1 3, -1 5'))).toEqual([
      'slot-wrong: slot 0 of rank 0 combines ranks 0-2, 4 (missing: rank 3)',
      'unused-delivery: rank 0 gets block 3 in temporary place 4 and never uses it',
    ])
  })

  test('that are there twice', () => {
    expect(violationsOf(reduceAtRoot(3, '0 2, -1 3, -1 2'))).toEqual([
      'slot-wrong: slot 0 of rank 0 combines ranks 0-2 (more than once: rank 1)',
    ])
  })

  test('that are there as often as doubling in every step makes them', () => {
    const builder = builderOf('reduce', 2)
    let held = 0
    for (let i = 0; i < 100; i++) {
      const result = i === 99 ? builder.slot(0, 0) : builder.stage(0)
      builder.combine(0, 0, 0, held, held, result)
      held = result
    }
    expect(violationsOf(builder.build())).toEqual([
      'slot-wrong: slot 0 of rank 0 combines rank 0 (missing: rank 1; more than once: rank 0)',
    ])
  })

  test('that are not demanded', () => {
    const specification = specificationOf({ collective: 'reduce' }, { ranks: 4 })
    specification.reductions.count[0] = 3
    const schedule = reduceAtRoot(4, '0 2, -1 3, -1 4')
    expect(violationsOf({ ...schedule, specification })).toEqual([
      'slot-wrong: slot 0 of rank 0 combines ranks 0-3 (not demanded: rank 3)',
    ])
  })

  test('one by one where a rank has an other one in place of one', () => {
    expect(violationsOf(reduceAtRoot(4, '2 0, 4 4, -1 0'))).toContain(
      'slot-wrong: slot 0 of rank 0 combines ranks 0, 3 (missing: ranks 1-2; more than once: rank 3)',
    )
  })

  test('of another part', () => {
    const builder = builderOf('allreduce', 1, 2)
    builder.copy(0, 0).add(0, 0, builder.slot(0, 1)).add(1, 1, builder.slot(0, 0))
    expect(violationsOf(builder.build())).toEqual([
      'slot-wrong: slot 0 of rank 0 combines part 1 of rank 0, not part 0',
      'slot-wrong: slot 1 of rank 0 combines part 0 of rank 0, not part 1',
    ])
  })

  test('in a barrier only if they are missing', () => {
    const builder = builderOf('barrier', 2)
    builder.combine(0, 0, 0, 0, 0, builder.slot(0, 0))
    expect(violationsOf(builder.build())).toEqual([
      'slot-wrong: slot 0 of rank 0 combines rank 0 (missing: rank 1)',
      'slot-missing: slot 0 of rank 1 never gets the reduction of part 0 over ranks 0-1',
    ])
  })
})

describe('verify rejects', () => {
  test('an operand that is empty', () => {
    expect(violationsOf(reduceAtRoot(2, '0 1'))).toEqual([
      'place-empty: rank 0 reads an operand of part 0 from place 1 in phase 0, which holds nothing yet',
      'unused-delivery: rank 0 gets block 1 in temporary place 2 and never uses it',
    ])
  })

  test('operands of different parts, and partial results named after another part', () => {
    const builder = builderOf('allreduce', 1, 2)
    builder.combine(0, 0, 0, 0, 1, builder.slot(0, 0))
    builder.copy(0, 0).add(partialResult(0), 1, builder.slot(0, 1))
    expect(violationsOf(builder.build())).toEqual([
      'wrong-part: rank 0 reads an operand of part 0 from place 1 in phase 0, which holds block 1',
      'wrong-part: rank 0 reads a partial result of part 0 from place 1 in phase 0, which holds block 1',
      'slot-wrong: slot 1 of rank 0 ends with a partial result of part 0, not with the reduction of part 1 over rank 0',
    ])
  })

  test('a partial result where a block is named or demanded', () => {
    const builder = builderOf('allgather', 2)
    const sum = builder.stage(0)
    for (const rank of [0, 1]) {
      builder.send(rank, 0, 1 - rank).add(rank, 0)
      builder.receive(rank, 0, 1 - rank).add(1 - rank, builder.slot(rank, 1 - rank))
    }
    builder.combine(0, 0, 0, 0, builder.slot(0, 1), sum)
    builder.copy(0, 1).add(partialResult(0), sum, builder.slot(0, 0))
    builder.copy(1, 0).add(1, 0, builder.slot(1, 1))
    expect(violationsOf(builder.build())).toEqual([
      'slot-wrong: slot 0 of rank 0 ends with a partial result of part 0 over ranks 0-1, not with block 0',
    ])
    const named = builderOf('allgather', 2)
    const staged = named.stage(0)
    named.combine(0, 0, 0, 0, 0, staged)
    named.copy(0, 0).add(0, staged, named.slot(0, 0))
    expect(violationsOf(named.build())[0]).toBe(
      'wrong-block: rank 0 reads block 0 from place 3 in phase 0, which holds a partial result of part 0 over rank 0',
    )
  })

  test('a combination that is never used', () => {
    const builder = builderOf('allreduce', 1)
    builder.copy(0, 0).add(0, 0, builder.slot(0, 0))
    builder.combine(0, 0, 0, 0, 0, builder.stage(0))
    expect(violationsOf(builder.build())).toEqual([
      'unused-delivery: rank 0 gets a partial result of part 0 over rank 0 in temporary place 2 and never uses it',
    ])
  })

  test('a send of a partial result in the phase in which it is combined', () => {
    const builder = builderOf('allreduce', 2)
    builder.send(0, 0, 1).add(0, 0)
    builder.receive(1, 0, 0).add(0, builder.stage(1))
    builder.combine(1, 0, 0, 2, 0, builder.slot(1, 0))
    builder.send(1, 0, 0, 1).add(partialResult(0), builder.slot(1, 0))
    builder.receive(0, 0, 1, 1).add(partialResult(0), builder.slot(0, 0))
    expect(violationsOf(builder.build())).toEqual([
      'place-empty: rank 1 sends a partial result of part 0 from place 1 in phase 0, in which it computes it: a send reads what is there when its phase begins',
    ])
  })

  test('a structure of combinations that is wrong, without further checks', () => {
    const changed = (change: (schedule: Schedule) => Partial<Schedule>): string[] => {
      const schedule = structuredClone(flatReduce(3)) as Schedule
      return violationsOf({ ...schedule, ...change(schedule) })
    }
    const op = flatReduce(3).opKind.indexOf(3)
    const entry = flatReduce(3).entryStart[op]
    const structure = expect.stringMatching(/^structure: /)
    const set = (name: 'entryRight' | 'entryBlock' | 'opPeer' | 'opTag', at: number, value: number) =>
      changed((schedule) => {
        schedule[name][at] = value
        return {}
      })
    expect(changed(() => ({ entryRight: new Int32Array(0) }))).toEqual([structure])
    expect(set('entryRight', entry, 99)).toEqual([structure])
    expect(set('entryRight', 0, 1)).toEqual([structure])
    expect(set('entryBlock', entry, 0)).toEqual([structure])
    expect(set('entryBlock', entry, ~1)).toEqual([structure])
    expect(set('opPeer', op, 0)).toEqual([structure])
    expect(set('opTag', op, 1)).toEqual([structure])
  })

  test('a specification whose arrays do not fit together, without further checks', () => {
    const changed = (change: (specification: Specification) => void): void => {
      const schedule = structuredClone(chainScan(3, 2))
      change(schedule.specification)
      const violations = violationsOf(schedule)
      expect(violations.length).toBeGreaterThan(0)
      for (const violation of violations) expect(violation).toMatch(/^structure: specification: /)
    }
    changed((s) => (s.partStart[1] = -1))
    changed((s) => (s.partStart[0] = 1))
    changed((s) => (s.ownStart[3] = 7))
    changed((s) => (s.ownBlock[0] = 6))
    changed((s) => (s.slotStart[2] = 1))
    changed((s) => (s.slotTerm[0] = 6))
    changed((s) => (s.slotTerm[0] = ~6))
    changed((s) => (s.reductions.runStart[1] = 0))
    changed((s) => (s.reductions.runStart[6] = 7))
    changed((s) => (s.reductions.first[0] = 6))
    changed((s) => (s.reductions.count[0] = 0))
    changed((s) => (s.reductions.count[5] = 2 ** 31 - 1))
    changed((s) => (s.reductions.stride[5] = 1))
    changed((s) => (s.reductions.stride[5] = 0))
    changed((s) => ((s as { ranks: number }).ranks = Number.NaN))
    // Reduction 0 over rank 0 in two runs; of two parts in two runs.
    const twoRuns = (second: number) => (s: Specification) => {
      const { runStart, first, count, stride } = s.reductions
      const reductions = {
        isIdempotent: false,
        runStart: runStart.map((start, i) => (i === 0 ? 0 : start + 1)),
        first: Int32Array.of(0, second, ...first.subarray(1)),
        count: Int32Array.of(1, 1, ...count.subarray(1)),
        stride: Int32Array.of(1, 1, ...stride.subarray(1)),
      }
      Object.assign(s, { reductions })
    }
    changed(twoRuns(0))
    changed(twoRuns(3))
    // Where ranks have different numbers of parts: blocks 0 and 2 are of different parts.
    changed((s) => {
      s.partStart[1] = 1
      s.reductions.count.fill(1)
      s.reductions.count[0] = 2
    })
  })
})
