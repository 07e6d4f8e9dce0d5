import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RankweaveError } from '../../../../src/errors.js'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { parseSchedule, parseScheduleStream } from '../../../../src/schedule/file/reader.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { violationCodes } from '../../../../src/schedule/verify/violations.js'
import { buildTopology } from '../../../../src/topology/spec/topology-from-spec.js'
import { topologyHash } from '../../../../src/topology/topology-hash.js'
import { builderFor, directSchedule, friendsSchedule, topologyOf } from '../fixtures.js'

const docs = new URL('../../../../docs/', import.meta.url)
const page = readFileSync(new URL('schedule-format.md', docs), 'utf8')

const multigraph = topologyOf(4, [
  [0, 1],
  [0, 1],
  [2, 2],
  [1, 0],
  [2, 2],
  [0, 1],
])

const schedules = {
  friends: friendsSchedule(),
  'parallel edges and self loops': directSchedule(multigraph),
  'a Cartesian grid': directSchedule(buildTopology('cart:3x1x2:periodic')),
  'no edges': directSchedule(topologyOf(3, [])),
  'one rank': directSchedule(topologyOf(1, [[0, 0]])),
  'no phases': builderFor(topologyOf(2, []), 0).build(),
}

function refused(lines: readonly string[]): RankweaveError {
  try {
    parseSchedule(lines, 'plan.jsonl')
  } catch (error) {
    if (error instanceof RankweaveError) return error
    throw error
  }
  throw new Error('expected parseSchedule to refuse the lines')
}

describe('a schedule as JSON Lines', () => {
  test.each(Object.entries(schedules))('reads back unchanged: %s', async (_, schedule) => {
    const lines = [...formatSchedule(schedule)]
    expect(lines).toHaveLength(1 + schedule.topology.ranks)
    expect(parseSchedule(lines)).toEqual(schedule)
    expect(parseSchedule([lines[0], '', ...lines.slice(1).reverse(), ''])).toEqual(schedule)
    const later = async function* () {
      yield* lines
    }
    expect(await parseScheduleStream(later())).toEqual(schedule)
  })

  test('keeps strategy and parameters, not weights', () => {
    const topology = { ...multigraph, outWeight: new Float64Array(6), inWeight: new Float64Array(6) }
    const parameters = { k: 4, mode: 'aware', dedupe: true, ratio: 0.5 }
    const schedule = { ...directSchedule(topology), strategy: 'some "strategy"', parameters }
    const parsed = parseSchedule(formatSchedule(schedule))
    expect(parsed).toMatchObject({ strategy: 'some "strategy"', parameters })
    expect(parsed.topology).toEqual(multigraph)
  })

  test('the example in the documentation is a right schedule, and its hash too', () => {
    const example = page.slice(page.indexOf('## Example')).match(/```json\n([^`]*)```/)?.[1]
    const schedule = parseSchedule(example?.split('\n') ?? [])
    expect(verify(schedule).violations).toEqual([])
    expect([...formatSchedule(schedule)].join('\n')).toBe(example?.trim())
    expect(page).toContain(topologyHash(topologyOf(2, [[0, 1]])))
  })

  test('the documentation explains every violation', () => {
    for (const code of violationCodes) expect(page).toContain(`| \`${code}\` |`)
  })
})

describe('the JSON Schema', () => {
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(new URL('schedule.schema.json', docs), 'utf8')))

  test.each(Object.entries(schedules))('accepts %s', (_, schedule) => {
    for (const line of formatSchedule(schedule))
      expect(schema.safeParse(JSON.parse(line)).error).toBeUndefined()
  })

  const lines = [...formatSchedule(schedules.friends)]
  test.each([
    [0, { version: 2 }],
    [0, { format: 'other' }],
    [0, { topologyHash: 'abc' }],
    [0, { cart: { dims: [1] } }],
    [0, { parameters: { a: [] } }],
    [0, { ranks: 0 }],
    [0, { more: 1 }],
    [1, { rank: -1 }],
    [1, { out: [0.5] }],
    [1, { staging: 2 ** 31 }],
    [1, { phases: [{ sends: [] }] }],
    [1, { phases: [{ send: [{ to: 1, tag: 0, blocks: [0] }] }] }],
    [1, { phases: [{ copy: [{ blocks: [0], read: [0], write: [1], tag: 0 }] }] }],
    [1, { more: 1 }],
  ])('rejects line %i with %o, as the reader does', (index, change) => {
    const line = { ...(JSON.parse(lines[index]) as object), ...change }
    expect(schema.safeParse(line).success).toBe(false)
    expect(refused(lines.with(index, JSON.stringify(line))).code).toBe('ERR_SCHEDULE_FORMAT')
  })
})

describe('parseSchedule rejects', () => {
  const lines = [...formatSchedule(schedules.friends)]
  const changed = (index: number, change: (line: string) => string): string[] =>
    lines.with(index, change(lines[index]))
  const phase = (text: string) => changed(1, (line) => line.replace(/"phases":.*/, `"phases":[${text}]}`))

  test.each([
    ['nothing', [], 0, 'expected a header line, got nothing'],
    ['a line that is cut off', changed(3, (l) => l.slice(0, 20)), 4, 'malformed or cut off'],
    ['a gzip file', ['\x1f\ufffd\b\0'], 1, 'got gzip-compressed data; run gunzip first'],
    ['a binary file', ['\x7fELF\ufffd'], 1, "Unexpected token '\\x7f'"],
    ['a file without its last rank', lines.slice(0, -1), 7, 'got 6: rank 6 is missing'],
    ['a rank twice', lines.with(3, lines[2]), 4, 'expected each rank once, got "rank 1 again"'],
    [
      'another format',
      changed(0, (l) => l.replace('rankweave-', '')),
      1,
      'format: expected "rankweave-schedule"',
    ],
    [
      'an unknown version',
      changed(0, (l) => l.replace('"version":1', '"version":7')),
      1,
      'version: expected 1',
    ],
    ['no object', lines.with(0, 'null'), 1, 'format: expected'],
    [
      'an unknown collective',
      changed(0, (l) => l.replace('-allgather', '-alltoall')),
      1,
      'collective: expected',
    ],
    [
      'too many phases',
      changed(0, (l) => l.replace('"phases":2', '"phases":2000000000')),
      1,
      'phases: expected an integer from 0 to 16777216',
    ],
    [
      'a wrong hash',
      changed(0, (l) => l.replace(/"topologyHash":"./, '"topologyHash":"0')),
      8,
      'topology hash',
    ],
    ['a rank that is no object', lines.with(2, '[]'), 3, 'expected an object, got []'],
    [
      'a rank out of range',
      changed(1, (l) => l.replace('"rank":0', '"rank":7')),
      2,
      'rank: expected an integer from 0 to 6',
    ],
    ['a source out of range', changed(1, (l) => l.replace('"in":[6]', '"in":[7]')), 2, 'in[0]: expected'],
    [
      'a missing key',
      changed(1, (l) => l.replace(/"staging":1,/, '')),
      2,
      'keys rank, out, in, staging, phases',
    ],
    ['too few phases', phase('{}'), 2, 'the 2 phases in the header'],
    ['an unknown list', phase('{"sent":[]},{}'), 2, 'phases[0]: expected only "send", "receive" and "copy"'],
    ['a list that is none', phase('{},{"send":{}}'), 2, 'phases[1].send: expected an array'],
    ['a phase that is none', phase('{},7'), 2, 'phases[1]: expected an object, got 7'],
    [
      'a peer out of range',
      phase('{"send":[{"to":7,"tag":0,"blocks":[0],"read":[0]}]},{}'),
      2,
      'phases[0].send[0].to: expected an integer from 0 to 6, got 7',
    ],
    [
      'blocks without places',
      phase('{"receive":[{"from":1,"tag":0,"blocks":[0,1],"write":[0]}]},{}'),
      2,
      'phases[0].receive[0]: expected as many places as blocks, 2',
    ],
    [
      'a place that is no number',
      phase('{"copy":[{"blocks":[0],"read":["0"],"write":[1]}]},{}'),
      2,
      'phases[0].copy[0].read[0]: expected an integer',
    ],
  ] as const)('%s', (_, text, line, message) => {
    const error = refused(text)
    expect(error.code).toBe('ERR_SCHEDULE_FORMAT')
    expect(error.message).toContain(`plan.jsonl:${line}: `)
    expect(error.message).toContain(message)
    expect(error.details).toEqual({ source: 'plan.jsonl', line })
  })

  test('lists that are no topology, even with their own hash', () => {
    const topology = { ...multigraph, inRank: Int32Array.of(1, 0, 0, 3, 2, 2) }
    const [header, ...ranks] = formatSchedule(builderFor(topology, 1).build())
    expect(refused([header, ...ranks]).message).toContain('expected a topology: ')
  })

  test('a pairing that does not fit the shape', () => {
    const lines = changed(0, (line) => line.replace('"occurrence"', '"cartesian"'))
    expect(refused(lines).message).toContain('expected a topology: ')
  })
})
