import { describe, expect, test } from 'vitest'
import { bcastBinomial } from '../../../../src/collective/bcast/bcast-binomial.js'
import { gatherLinearSync } from '../../../../src/collective/gather/gather-linear-sync.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-of.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { parseSchedule, parseScheduleStream } from '../../../../src/schedule/file/reader.js'
import { partialResult, type Schedule } from '../../../../src/schedule/ir.js'
import { directSchedule, friendsSchedule } from '../fixtures.js'
import { expectRefusal } from './refusals.js'
import { allreduceOfThree, multigraph, neighborSchedules, otherSchedules } from './schedules.js'

describe('a schedule as JSON Lines', () => {
  const all = Object.entries<Schedule>({ ...neighborSchedules, ...otherSchedules })

  test.each(all)('reads back unchanged, with the lines in any order: %s', async (_, schedule) => {
    const lines = [...formatSchedule(schedule)]
    expect(lines).toHaveLength(1 + schedule.specification.ranks)
    expect(JSON.parse(lines[0])).toMatchObject({ version: 2 })
    expect(parseSchedule(lines)).toEqual(schedule)
    expect(parseSchedule([lines[0], '', ...lines.slice(1).reverse(), ''])).toEqual(schedule)
    expect(parseSchedule(`${lines.join('\r\n')}\n`)).toEqual(schedule)
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

  test('tells block 0 from a partial result of part 0 in one list', () => {
    const { specification } = allreduceOfThree()
    const builder = new ScheduleBuilder({ specification, strategy: 'both' })
    builder.send(0, 0, 1).add(0, 0).add(partialResult(0), 0)
    const [, line] = [...formatSchedule(builder.build())].map((text) => JSON.parse(text))
    expect(line.phases[0].send[0].blocks).toEqual([0, { partial: 0 }])
  })

  test('names partial results by their part, and lists only phases with operations', () => {
    const lines = [...formatSchedule(allreduceOfThree())].map((line) => JSON.parse(line))
    expect(lines[2]).toEqual({
      rank: 1,
      own: [1],
      slots: [{ reduce: [[0, 3, 1]] }],
      staging: 0,
      phases: [
        { phase: 0, send: [{ to: 0, tag: 0, blocks: [1], read: [0] }] },
        { phase: 1, receive: [{ from: 0, tag: 0, blocks: [{ partial: 0 }], write: [1] }] },
      ],
    })
    expect(lines[1].phases[0].local).toEqual([
      { combine: [0], left: [0], right: [2], write: [4] },
      { combine: [0], left: [4], right: [3], write: [1] },
    ])
  })

  test('a rank with operations in the last of 2^24 phases takes one object', () => {
    const { specification } = allreduceOfThree()
    const builder = new ScheduleBuilder({ specification, strategy: 'late' })
    builder.send(2, 2 ** 24 - 1, 1)
    builder.receive(1, 0, 2)
    const schedule = builder.build()
    const lines = [...formatSchedule(schedule)]
    expect(lines[0]).toContain('"phases":16777216')
    expect(lines[3].length).toBeLessThan(200)
    expect(parseSchedule(lines)).toEqual(schedule)
  })

  test('a pipeline of 1,000 segments over 16 ranks has text in proportion to its operations', () => {
    const schedule = scheduleOf(bcastBinomial, { ranks: 16, segments: 1_000 })
    let bytes = 0
    let longest = 0
    const lines: string[] = []
    for (const line of formatSchedule(schedule)) {
      bytes += line.length
      longest = Math.max(longest, line.length)
      lines.push(line)
    }
    const operations = schedule.opKind.length
    expect(operations).toBe(2 * 15 * 1_000)
    expect(bytes / operations).toBeLessThan(100)
    expect(longest).toBeLessThan(bytes / 8)
    expect([...formatSchedule(parseSchedule(lines))]).toEqual(lines)
  })
})

describe('version 3', () => {
  const waiting = scheduleOf(gatherLinearSync, { ranks: 4, segments: 2 })

  test('is written of schedules in which an operation waits, and of no others', () => {
    const lines = [...formatSchedule(waiting)]
    expect(JSON.parse(lines[0]!)).toMatchObject({ version: 3 })
    expect(lines[1]).toContain('{"to":2,"tag":0,"after":1,"blocks":[],"read":[]}')
    expect(parseSchedule(lines)).toEqual(waiting)
    const [header] = formatSchedule({ ...waiting, opAfter: new Int32Array(0) })
    expect(JSON.parse(header!)).toMatchObject({ version: 2 })
  })

  test('is demanded by a wait', () => {
    const message = (version: number) =>
      `version ${version} of the schedule format knows no operations that wait: write version 3`
    expect(versionError(waiting, 2)).toBe(message(2))
    expect(versionError({ ...friendsSchedule(), opAfter: waiting.opAfter }, 1)).toBe(message(1))
  })

  test('holds schedules without waits on demand', () => {
    const schedule = allreduceOfThree()
    const lines = [...formatSchedule(schedule, { version: 3 })]
    expect(JSON.parse(lines[0]!)).toMatchObject({ version: 3 })
    expect(parseSchedule(lines)).toEqual(schedule)
  })

  test.each([
    ['in version 2', 2, { after: 0 }, ': expected an object with the keys to, tag, blocks, read'],
    ['for its own phase', 3, { after: 1 }, '.after: expected a phase before its own, 1, got 1'],
    ['for no phase', 3, { after: null }, '.after: expected a phase before its own, 1, got null'],
  ])('an operation that waits %s is refused', (_, version, change, message) => {
    const header = { ...JSON.parse([...formatSchedule(allreduceOfThree())][0]!), version }
    const send = { to: 1, tag: 0, blocks: [0], read: [0], ...change }
    const rank = { rank: 0, own: [0], slots: [], staging: 0, phases: [{ phase: 1, send: [send] }] }
    const lines = [header, rank].map((line) => JSON.stringify(line))
    expectRefusal(lines, 2, `phases[0].send[0]${message}`)
  })
})

describe('version 1', () => {
  test.each(Object.entries(neighborSchedules))('is written on demand and reads back: %s', (_, schedule) => {
    const lines = [...formatSchedule(schedule, { version: 1 })]
    expect(JSON.parse(lines[0])).toMatchObject({ version: 1, topologyHash: expect.any(String) })
    expect(parseSchedule(lines)).toEqual(schedule)
  })

  const friends = friendsSchedule()
  const withBlocks = (change: (block: number) => number) => ({
    ...friends,
    entryBlock: friends.entryBlock.map(change),
  })
  const moved = (array: 'ownBlock' | 'slotTerm' | 'partStart') => ({
    ...friends,
    specification: { ...friends.specification, [array]: friends.specification[array].map(() => 0) },
  })
  test.each<[string, Schedule]>([
    ['the collective bcast', otherSchedules['a bcast in segments']],
    ['the collective allreduce', otherSchedules['an allreduce']],
    ['a schedule without a topology', otherSchedules['a neighbor allgather without its topology']],
    ['a combination', { ...friends, opKind: friends.opKind.map(() => 3) }],
    ['a partial result', withBlocks(() => partialResult(0))],
    ['a specification other than that of its topology', moved('ownBlock')],
    ['a specification other than that of its topology', moved('slotTerm')],
    ['a specification other than that of its topology', moved('partStart')],
  ])('is refused before the first line for %s', (what, schedule) => {
    expect(versionError(schedule, 1)).toBe(
      `version 1 of the schedule format expresses neighbor allgathers of a topology only, got ${what}`,
    )
  })

  test('and 2 and 3 are the only ones', () => {
    expect(versionError(friends, 4 as 2)).toBe('expected version 1, 2, 3 of the schedule format, got 4')
  })
})

function versionError(schedule: Schedule, version: 1 | 2): string {
  try {
    formatSchedule(schedule, { version })
  } catch (error) {
    if (isRankweaveError(error, 'ERR_SCHEDULE_VERSION')) return error.message
    throw error
  }
  throw new Error('expected formatSchedule to refuse the version')
}
