import { readFileSync } from 'node:fs'
import { formatSchedule, parseSchedule, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RankweaveError } from '../../../../src/errors.js'
import { collectives } from '../../../../src/schedule/specification.js'
import { violationCodes } from '../../../../src/schedule/verify/violations.js'
import { topologyHash } from '../../../../src/topology/topology-hash.js'
import { topologyOf } from '../fixtures.js'
import { allreduceOfThree, neighborSchedules, otherSchedules } from './schedules.js'

const docs = new URL('../../../../docs/', import.meta.url)
const page = readFileSync(new URL('schedule-format.md', docs), 'utf8')

describe('the page of the format', () => {
  /** The file in the first block after a heading. */
  const exampleOf = (heading: string): string => {
    const at = page.indexOf(`### ${heading}\n`)
    expect(at).toBeGreaterThan(0)
    return /```json\n([^`]*)```/.exec(page.slice(at))![1].trim()
  }

  test.each([
    ['A neighbor allgather', 2],
    ['An allreduce', 2],
    ['Tokens', 3],
    ['The neighbor allgather in version 1', 1],
  ] as const)('has an example that is a right schedule: %s', (heading, version) => {
    const example = exampleOf(heading)
    const schedule = parseSchedule(example.split('\n'))
    expect(verify(schedule, schedule.topology, { ordered: true }).violations).toEqual([])
    expect([...formatSchedule(schedule, version === 1 ? { version } : {})].join('\n')).toBe(example)
  })

  test('has the same neighbor allgather in both versions, and the allreduce of the tests', () => {
    const [two, one] = ['A neighbor allgather', 'The neighbor allgather in version 1'].map((heading) =>
      parseSchedule(exampleOf(heading).split('\n')),
    )
    expect(one).toEqual(two)
    expect(parseSchedule(exampleOf('An allreduce').split('\n'))).toEqual(allreduceOfThree())
  })

  test('explains every collective and every violation, and has a right hash', () => {
    for (const collective of collectives) expect(page).toContain(`\`${collective}\``)
    for (const code of violationCodes) expect(page).toContain(`| \`${code}\` |`)
    expect(page).toContain(topologyHash(topologyOf(2, [[0, 1]])))
  })
})

describe('the JSON Schema', () => {
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(new URL('schedule.schema.json', docs), 'utf8')))
  const accepts = (lines: Iterable<string>) => {
    for (const line of lines) expect(schema.safeParse(JSON.parse(line)).error).toBeUndefined()
  }

  test.each(Object.entries(neighborSchedules))('accepts both versions: %s', (_, schedule) => {
    accepts(formatSchedule(schedule))
    accepts(formatSchedule(schedule, { version: 1 }))
  })

  test.each(Object.entries(otherSchedules))('accepts %s', (_, schedule) => accepts(formatSchedule(schedule)))

  const version1 = [...formatSchedule(neighborSchedules['friends'], { version: 1 })]
  const version2 = [...formatSchedule(neighborSchedules['friends'])]
  const allreduce = [...formatSchedule(allreduceOfThree())]
  const combine = { combine: [0], left: [0], right: [2], write: [4] }
  const hash = 'a'.repeat(64)
  const version3 = allreduce.with(0, JSON.stringify({ ...JSON.parse(allreduce[0]), version: 3 }))
  const message = { to: 1, tag: 0, blocks: [0], read: [0] }
  const rejected: readonly (readonly [readonly string[], number, object])[] = [
    ...[version1, version2].flatMap(
      (lines) =>
        [
          [lines, 0, { version: 4 }],
          [lines, 0, { ranks: 0 }],
          [lines, 0, { more: 1 }],
          [lines, 1, { rank: -1 }],
          [lines, 1, { staging: 2 ** 31 }],
          [lines, 1, { phases: [{ sends: [] }] }],
        ] as const,
    ),
    [version1, 0, { topologyHash: 'abc' }],
    [version1, 1, { phases: [{ send: [{ to: 1, tag: 0, blocks: [0] }] }] }],
    [version3, 1, { phases: [{ phase: 1, send: [{ ...message, after: -1 }] }] }],
    [version2, 0, { collective: 'all' }],
    [version2, 0, { topology: { hash, pairing: 'other', cart: null } }],
    [allreduce, 0, { parts: 3 }],
    [allreduce, 1, { slots: [{ reduce: [] }] }],
    [allreduce, 1, { phases: [{ phase: 0, local: [{ ...combine, read: [0] }] }] }],
    [allreduce, 1, { phases: [{ phase: 0, send: [{ to: 1, tag: 0, blocks: [{}], read: [0] }] }] }],
  ]
  test.each(
    rejected.map(([lines, index, change]) => ({
      name: `version ${JSON.parse(lines[0]).version}, line ${index}: ${JSON.stringify(change)}`,
      changed: lines.with(index, JSON.stringify({ ...JSON.parse(lines[index]), ...change })),
      index,
    })),
  )('rejects what the reader rejects: $name', ({ changed, index }) => {
    expect(schema.safeParse(JSON.parse(changed[index])).success).toBe(false)
    expect(() => parseSchedule(changed)).toThrow(RankweaveError)
  })
})
