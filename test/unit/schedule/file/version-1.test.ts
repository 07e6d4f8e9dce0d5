import { readFileSync } from 'node:fs'
import { formatSchedule, plan, readScheduleFile, verify } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'

// Written by the release that knew version 1 only: plan moore:4x4:r=1 --k 2; plan cart:3x1x2:periodic
// --strategy direct.
test.each([
  ['friends', 'moore:4x4:r=1', { kind: 'common-neighbor', k: 2, mode: 'agnostic' }],
  ['cart', 'cart:3x1x2:periodic', { kind: 'direct' }],
] as const)(
  'a file of version 1 reads as before, verifies, and is written again: %s',
  async (name, spec, strategy) => {
    const file = new URL(`version-1-${name}.jsonl`, import.meta.url)
    const schedule = await readScheduleFile(file.pathname)
    const topology = buildTopology(spec)
    expect(schedule).toEqual(plan(topology, strategy).schedule)
    expect(verify(schedule, topology)).toMatchObject({ ok: true, unproven: [] })
    expect(`${[...formatSchedule(schedule, { version: 1 })].join('\n')}\n`).toBe(readFileSync(file, 'utf8'))
  },
)
