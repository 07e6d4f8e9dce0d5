import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { algorithms } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { RankweaveError } from '../../src/errors.js'
import { ScheduleBuilder } from '../../src/schedule/builder.js'
import { formatSchedule } from '../../src/schedule/file/format-schedule.js'
import { parseSchedule, parseScheduleSlice } from '../../src/schedule/file/reader.js'
import { sliceSchedule } from '../../src/schedule/file/slice.js'
import { partialResult, type Schedule } from '../../src/schedule/ir.js'
import { collectives, type Specification } from '../../src/schedule/specification.js'
import { verify } from '../../src/schedule/verify/verify.js'
import { plans } from '../support/random-plans.js'
import { cases } from '../support/soak.js'

describe('schedules of files are those that were written', () => {
  test('random plans, in both versions, with the lines in any order', () => {
    fc.assert(
      fc.property(plans, fc.constantFrom(1 as const, 2 as const), (schedule, version) => {
        const [header, ...ranks] = formatSchedule(schedule, { version })
        expect(parseSchedule([header, ...ranks])).toEqual(schedule)
        expect(parseSchedule([header, ...ranks.reverse()])).toEqual(schedule)
      }),
      { numRuns: cases(100) },
    )
  })

  const shapes = fc
    .record({ ranks: fc.integer({ min: 1, max: 11 }), segments: fc.integer({ min: 1, max: 3 }) })
    .chain((shape) =>
      fc.record({
        shape: fc.constant(shape),
        root: fc.nat(shape.ranks - 1),
        slice: fc.subarray([...Array(shape.ranks).keys()]),
      }),
    )

  test.each(algorithms.map((algorithm) => [algorithm.id, algorithm] as const))(
    'schedules and slices of %s',
    (_, algorithm) => {
      fc.assert(
        fc.property(shapes, ({ shape, root, slice }) => {
          const { ranks, segments } = shape
          fc.pre((algorithm.refuses?.({ ranks, root, segments }) ?? null) === null)
          const schedule = scheduleOf(algorithm, { ranks, root, segments })
          const lines = [...formatSchedule(schedule)]
          expect(parseSchedule(lines)).toEqual(schedule)
          const part = scheduleOf(algorithm, { ranks, root, segments }, slice)
          const { phases } = schedule
          expect(parseScheduleSlice(sliceSchedule(lines, slice)).schedule).toEqual({ ...part, phases })
        }),
        { numRuns: cases(5) },
      )
    },
  )

  test('schedules that mean nothing', () => {
    fc.assert(
      fc.property(nonsense, (schedule) => {
        const lines = [...formatSchedule(schedule)]
        const read = parseSchedule(lines)
        expect([...formatSchedule(read)]).toEqual(lines)
        // Equal reductions become one, and those of no slot are left out.
        expect({ ...read, specification: 0 }).toEqual({ ...schedule, specification: 0 })
        const { reductions, slotTerm, ...others } = schedule.specification
        expect(read.specification).toMatchObject(others)
      }),
      { numRuns: cases(200) },
    )
  })
})

test('a file that is cut anywhere, or has one character changed, is verified as another schedule or refused', () => {
  fc.assert(
    fc.property(nonsense, fc.nat(), fc.nat(), fc.boolean(), (schedule, at, character, isCut) => {
      const text = [...formatSchedule(schedule)].join('\n')
      const place = at % text.length
      const changed = isCut
        ? text.slice(0, place)
        : text.slice(0, place) + String.fromCharCode(32 + (character % 95)) + text.slice(place + 1)
      const outcome = outcomeOf(changed.split('\n'))
      if (isCut) expect(outcome).toBe('refused')
    }),
    { numRuns: cases(500) },
  )
})

function outcomeOf(lines: readonly string[]): string {
  try {
    verify(parseSchedule(lines))
    return 'read'
  } catch (error) {
    if (error instanceof RankweaveError && error.code === 'ERR_SCHEDULE_FORMAT') return 'refused'
    throw error
  }
}

/** Operations and specifications of any content that the arrays can hold. */
const nonsense: fc.Arbitrary<Schedule> = fc
  .record({
    collective: fc.constantFrom(...collectives),
    isIdempotent: fc.boolean(),
    parts: fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }),
    terms: fc.array(
      fc.record({
        rank: fc.nat(),
        block: fc.nat(),
        runs: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 3 }),
      }),
      { maxLength: 12 },
    ),
    operations: fc.array(
      fc.record({
        rank: fc.nat(),
        phase: fc.oneof(fc.nat(3), fc.nat(2 ** 24 - 1)),
        kind: fc.constantFrom('send', 'receive', 'copy', 'combine'),
        peer: fc.nat(),
        tag: fc.nat(3),
        entries: fc.array(fc.tuple(fc.nat(9), fc.boolean(), fc.nat(9), fc.nat(9)), { maxLength: 3 }),
      }),
      { maxLength: 20 },
    ),
  })
  .map(({ collective, isIdempotent, operations, parts, terms }) => {
    const specification = specificationFrom(collective, isIdempotent, parts, terms)
    const ranks = parts.length
    const builder = new ScheduleBuilder({ specification, strategy: 'nonsense' })
    for (const { rank: drawn, phase, kind, peer, tag, entries } of operations) {
      const rank = drawn % ranks
      if (kind === 'combine') builder.combine(rank, phase, tag, 1, 2, 3)
      else if (kind === 'copy') builder.copy(rank, phase)
      else builder[kind](rank, phase, peer % ranks, tag)
      if (kind === 'combine') continue
      for (const [block, isPartial, place, to] of entries) {
        builder.add(isPartial ? partialResult(block) : block, place, to)
      }
    }
    return builder.build()
  })

function specificationFrom(
  collective: Specification['collective'],
  isIdempotent: boolean,
  parts: readonly number[],
  terms: readonly { rank: number; block: number; runs: readonly (readonly [number, number, number])[] }[],
): Specification {
  const ranks = parts.length
  const starts = (lengths: readonly number[]) =>
    Int32Array.from([0, ...lengths]).map((_, i) =>
      lengths.slice(0, i).reduce((sum, length) => sum + length, 0),
    )
  const partStart = starts(parts)
  const blocks = partStart[ranks]
  const runs: (readonly [number, number, number])[] = []
  const runStart = [0]
  const rows: number[][] = parts.map(() => [])
  for (const term of blocks === 0 ? [] : terms) {
    const row = rows[term.rank % ranks]
    if (term.runs.length === 0) {
      row.push(term.block % blocks)
      continue
    }
    for (const [first, count, stride] of term.runs) {
      const from = first % blocks
      const step = 1 + (stride % 3)
      runs.push([from, 1 + (count % Math.ceil((blocks - from) / step)), step])
    }
    row.push(~(runStart.push(runs.length) - 2))
  }
  const column = (i: 0 | 1 | 2) => Int32Array.from(runs, (run) => run[i])
  return {
    collective,
    ranks,
    partStart,
    ownStart: partStart,
    ownBlock: Int32Array.from({ length: blocks }, (_, block) => block),
    slotStart: starts(rows.map((row) => row.length)),
    slotTerm: Int32Array.from(rows.flat()),
    reductions: {
      isIdempotent,
      runStart: Int32Array.from(runStart),
      first: column(0),
      count: column(1),
      stride: column(2),
    },
  }
}
