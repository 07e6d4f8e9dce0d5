import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { parseSchedule, plan, readScheduleFile, verify } from 'rankweave/schedule'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { plans } from '../support/random-plans.js'
import { chooseBy, mutations } from '../support/schedule-faults.js'
import { linesOf, scheduleOf, textOf } from '../support/schedule-lines.js'
import { cases, daily } from '../support/soak.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const codesOf = (schedule: Parameters<typeof verify>[0]): Set<string> =>
  new Set(verify(schedule, schedule.topology, { limit: 10_000 }).violations.map(({ code }) => code))

describe('verify rejects real plans with', () => {
  test.each(mutations.map((mutation) => [mutation.name, mutation] as const))('%s', async (_, mutation) => {
    let applied = 0
    const path = join(folder, 'plan.jsonl')
    await fc.assert(
      fc.asyncProperty(plans, fc.integer(), async (schedule, seed) => {
        const lines = linesOf(schedule)
        expect(codesOf(scheduleOf(lines, schedule))).toEqual(new Set())
        if (!mutation.apply(lines, chooseBy(seed))) return
        applied++

        const inMemory = codesOf(scheduleOf(lines, schedule))
        expect(mutation.codes.some((code) => inMemory.has(code))).toBe(true)
        writeFileSync(path, textOf(lines))
        expect(codesOf(await readScheduleFile(path))).toEqual(inMemory)
      }),
      { numRuns: cases(100, 30) },
    )
    expect(applied).toBeGreaterThan(0)
  })
})

describe('verify rejects larger plans with every fault', () => {
  const strategy = { kind: 'common-neighbor', k: 4, mode: 'aware' } as const
  test.each(
    daily(
      [
        ['moore:12x12:r=2', strategy],
        ['moore:12x12:r=2', { ...strategy, dedupe: false, elide: false }],
        ['er:48:d=0.4:seed=1', { ...strategy, k: 2, mode: 'agnostic' as const }],
        ['er:48:d=0.4:seed=1', { kind: 'direct' } as const],
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
