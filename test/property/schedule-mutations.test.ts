import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { algorithms } from '../../src/collective/algorithms.js'
import { scheduleOf as scheduleOfAlgorithm } from '../../src/collective/patterns/schedule-size.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { formatSchedule } from '../../src/schedule/file/format-schedule.js'
import { parseSchedule } from '../../src/schedule/file/reader.js'
import { readScheduleFile } from '../../src/schedule/file/schedule-file.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { verify } from '../../src/schedule/verify/verify.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { naiveVerdict } from '../support/naive-verifier.js'
import { plans } from '../support/random-plans.js'
import { chooseBy, insertPhase, mutations } from '../support/schedule-faults.js'
import { linesOf, scheduleOf, textOf } from '../support/schedule-lines.js'
import { mutantOf } from '../support/schedule-mutants.js'
import { cases, daily } from '../support/soak.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const codesOf = (schedule: Parameters<typeof verify>[0]): Set<string> =>
  new Set(verify(schedule, schedule.topology, { limit: 10_000 }).violations.map(({ code }) => code))

/** By a verifier that reads the file only. */
const naiveCodes = (schedule: Schedule): Set<string> => naiveVerdict([...formatSchedule(schedule)]).codes

describe('verify rejects real plans with', () => {
  test.each(mutations.map((mutation) => [mutation.name, mutation] as const))('%s', async (_, mutation) => {
    let applied = 0
    const path = join(folder, 'plan.jsonl')
    await fc.assert(
      fc.asyncProperty(plans, fc.integer(), async (schedule, seed) => {
        const lines = linesOf(schedule)
        expect(naiveCodes(scheduleOf(lines, schedule))).toEqual(new Set())
        if (!mutation.apply(lines, chooseBy(seed))) return
        applied++

        const inMemory = codesOf(scheduleOf(lines, schedule))
        expect(mutation.codes.some((code) => inMemory.has(code))).toBe(true)
        writeFileSync(path, textOf(lines))
        expect(codesOf(await readScheduleFile(path))).toEqual(inMemory)
        expect(naiveCodes(scheduleOf(lines, schedule))).toEqual(inMemory)
      }),
      { numRuns: cases(100, 60) },
    )
    expect(applied).toBeGreaterThan(0)
  })
})

describe('verify rejects larger plans with every fault', () => {
  const strategy = { kind: 'common-neighbor', k: 4, mode: 'aware' } as const
  test.each(
    daily(
      [
        ['moore:16x16:r=3', strategy],
        ['moore:16x16:r=3', { ...strategy, dedupe: false, elide: false }],
        ['er:96:d=0.4:seed=1', { ...strategy, k: 2, mode: 'agnostic' as const }],
        ['er:96:d=0.4:seed=1', { kind: 'direct' } as const],
      ] as const,
      2,
    ),
  )('%s, %o', (spec, strategy) => {
    const topology = buildTopology(spec)
    const nodeOf = Int32Array.from({ length: topology.ranks }, (_, rank) => Math.floor(rank / 32))
    const { schedule } = plan(topology, strategy, { nodeOf })
    expect(codesOf(schedule)).toEqual(new Set())
    const text = textOf(linesOf(schedule))
    for (const [seed, mutation] of mutations.entries()) {
      const lines = linesOf(schedule)
      const isApplied = mutation.apply(lines, chooseBy(seed))
      if (strategy.kind === 'direct' && !isApplied) continue // has no receive of two blocks
      expect(isApplied && textOf(lines) !== text).toBe(true)
      const found = codesOf(parseSchedule(textOf(lines).split('\n')))
      expect([mutation.name, mutation.codes.some((code) => found.has(code))]).toEqual([mutation.name, true])
      expect(codesOf(scheduleOf(lines, schedule))).toEqual(found)
    }
  })
})

describe('a verifier written from the documentation agrees', () => {
  test('on plans with several faults', () => {
    fc.assert(
      fc.property(plans, fc.integer(), (schedule, seed) => {
        const lines = linesOf(schedule)
        const choose = chooseBy(seed)
        for (let i = 0; i < 3; i++) {
          const dropping = mutations[choose(mutations.length)]
          try {
            dropping.apply(lines, choose)
          } catch {
            // A fault that needs what an earlier one has removed.
          }
        }
        expect(codesOf(scheduleOf(lines, schedule))).toEqual(naiveCodes(scheduleOf(lines, schedule)))
      }),
      { numRuns: cases(500, 250) },
    )
  })

  test('on schedules of collectives with a change, and on whether they combine in the demanded order', () => {
    let [accepted, rejected, unread] = [0, 0, 0]
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const choose = chooseBy(seed)
        const ranks = 1 + choose(6)
        const shape = { ranks, root: choose(ranks), segments: 1 + choose(2) }
        const serving = algorithms.filter(({ refuses }) => (refuses?.(shape) ?? null) === null)
        const original = scheduleOfAlgorithm(serving[choose(serving.length)], shape)
        const changed = choose(4) === 0 ? null : mutantOf(original, choose)
        const { name, schedule } = changed ?? { name: 'no change', schedule: original }
        const lines = [...formatSchedule(schedule)]
        const inMemory = codesOf(schedule)
        let read: Schedule
        try {
          read = parseSchedule(lines)
        } catch {
          unread++
          expect(inMemory).toEqual(new Set(['structure']))
          return
        }
        const found = codesOf(read)
        // A file has no place for what only an array can hold wrongly, such as the right operand of a copy.
        if (!inMemory.has('structure')) expect(found).toEqual(inMemory)
        if (found.size === 0) accepted++
        else rejected++
        const { codes, isOrdered } = naiveVerdict(lines)
        // Where ranks wait for each other without end, partial results cannot be followed.
        if (found.has('deadlock')) expect([name, codes.has('deadlock')]).toEqual([name, true])
        else expect([name, codes]).toEqual([name, found])
        if (found.size === 0) expect([name, isOrdered]).toEqual([name, verify(read).isOrdered])
      }),
      { numRuns: cases(400, 200) },
    )
    expect(accepted).toBeGreaterThan(25)
    expect(rejected).toBeGreaterThan(50)
    expect(unread).toBeLessThan(cases(100, 50))
  })

  test('on which ranks wait for which', () => {
    const messages = fc.array(
      fc.record({
        source: fc.nat(4),
        destination: fc.nat(4),
        sendPhase: fc.nat(3),
        receivePhase: fc.nat(3),
      }),
      { maxLength: 12 },
    )
    let deadlocks = 0
    fc.assert(
      fc.property(plans, messages, (schedule, list) => {
        const lines = linesOf(schedule)
        while (lines.header.phases < 4) insertPhase(lines, lines.header.phases - 1)
        const { ranks } = lines.header
        for (const [i, { source, destination, sendPhase, receivePhase }] of list.entries()) {
          const [from, to, tag] = [source % ranks, destination % ranks, 1_000 + i]
          lines.ranks[from].phases[sendPhase].send.push({ to, tag, blocks: [], read: [] })
          lines.ranks[to].phases[receivePhase].receive.push({ from, tag, blocks: [], write: [] })
        }
        const expected = naiveCodes(scheduleOf(lines, schedule))
        if (expected.has('deadlock')) deadlocks++
        expect(codesOf(scheduleOf(lines, schedule))).toEqual(expected)
      }),
      { numRuns: cases(500, 250) },
    )
    expect(deadlocks).toBeGreaterThan(25)
    expect(deadlocks).toBeLessThan(cases(450, 225))
  })
})
