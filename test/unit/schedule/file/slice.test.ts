import { describe, expect, test } from 'vitest'
import { bcastBinomial } from '../../../../src/collective/bcast/bcast-binomial.js'
import { scheduleOf, specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { parseSchedule, parseScheduleSlice } from '../../../../src/schedule/file/reader.js'
import { sliceSchedule } from '../../../../src/schedule/file/slice.js'
import { verifySlice } from '../../../../src/schedule/verify/verify.js'
import { operationsOfRank } from '../../../../src/schedule/walk.js'
import { builderFor, friendsSchedule, topologyOf } from '../fixtures.js'
import { allreduceOfThree } from './schedules.js'

const friends = friendsSchedule()
const lines = [...formatSchedule(friends)]

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (isRankweaveError(error)) return error.code
    throw error
  }
  return 'nothing thrown'
}

describe('sliceSchedule', () => {
  test('copies the lines of the ranks unchanged and marks the header', () => {
    const slice = [...sliceSchedule(lines, [4, 0])]
    expect(slice.slice(1)).toEqual([lines[1], lines[5]])
    expect(JSON.parse(slice[0])).toEqual({ ...JSON.parse(lines[0]), slice: [0, 4] })
  })

  test('cuts a slice further, and lines with keys in any order', () => {
    const reordered = lines.map((line) => {
      const { rank, ...others } = JSON.parse(line) as Record<string, unknown>
      return JSON.stringify(rank === undefined ? others : { ...others, rank })
    })
    const twice = [...sliceSchedule(sliceSchedule(reordered, [1, 3, 5]), [3])]
    expect(parseScheduleSlice(twice)).toEqual(parseScheduleSlice(sliceSchedule(lines, [3])))
  })

  test('rejects ranks that the schedule does not have', () => {
    expect(codeOf(() => [...sliceSchedule(lines, [7])])).toBe('ERR_RANK')
    expect(codeOf(() => [...sliceSchedule(lines, [-1])])).toBe('ERR_RANK')
    expect(codeOf(() => [...sliceSchedule(sliceSchedule(lines, [1, 2]), [3])])).toBe('ERR_RANK')
    expect(codeOf(() => [...sliceSchedule(lines.slice(0, 3), [5])])).toBe('ERR_SCHEDULE_FORMAT')
    expect(codeOf(() => [...sliceSchedule([], [5])])).toBe('ERR_SCHEDULE_FORMAT')
    expect(codeOf(() => [...sliceSchedule([lines[0], '{"rank":'], [5])])).toBe('ERR_SCHEDULE_FORMAT')
    expect(codeOf(() => [...sliceSchedule([lines[0], '7'], [5])])).toBe('ERR_SCHEDULE_FORMAT')
  })

  test('rejects a schedule of no lines, and lines without a rank, with the line number', () => {
    const messageOf = (from: readonly string[]): string => {
      try {
        return [...sliceSchedule(from, [5])].join()
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(messageOf([])).toMatch(/:0: expected a header line, got nothing$/)
    expect(messageOf([lines[0], '{"rank":"5"}'])).toMatch(/:2: rank: expected a rank, got "5"$/)
  })

  test.each([
    ['out of range', [0, 7]],
    ['twice', [3, 3]],
    ['in descending order', [3, 1]],
  ])('rejects a slice whose header lists ranks %s', (_, slice) => {
    const header = JSON.stringify({ ...JSON.parse(lines[0]), slice })
    const ofRanks = slice.map((rank) => lines[rank + 1] ?? lines[1])
    expect(codeOf(() => parseScheduleSlice([header, ...ofRanks]))).toBe('ERR_SCHEDULE_FORMAT')
  })
})

describe('a slice', () => {
  test('of a file of version 1 has the same ranks', () => {
    const version1 = [...formatSchedule(friends, { version: 1 })]
    expect(parseScheduleSlice(sliceSchedule(version1, [0, 4]))).toEqual(
      parseScheduleSlice(sliceSchedule(lines, [0, 4])),
    )
  })

  test('without a topology has the rows and operations of its ranks, and no hash', () => {
    const shape = { ranks: 9, root: 2, segments: 3 }
    const whole = [...formatSchedule(scheduleOf(bcastBinomial, shape))]
    const ranks = [2, 3, 7]
    const slice = parseScheduleSlice(sliceSchedule(whole, ranks))
    const planned = scheduleOf(bcastBinomial, shape, ranks)
    expect(slice.schedule).toEqual({ ...planned, phases: JSON.parse(whole[0]).phases })
    expect(slice).toMatchObject({ topologyHash: null, ranks: Int32Array.from(ranks) })
    expect(verifySlice(slice)).toMatchObject({ ok: true, unproven: { length: 2 } })
    const allreduce = [...formatSchedule(allreduceOfThree())]
    expect(parseScheduleSlice(sliceSchedule(allreduce, [1])).schedule.specification).toEqual(
      specificationOf({ collective: 'allreduce' }, { ranks: 3 }, [1]),
    )
  })

  test('has the operations of its ranks and is not a whole schedule', () => {
    const { ranks, schedule, topologyHash } = parseScheduleSlice(sliceSchedule(lines, [0, 4]))
    expect(ranks).toEqual(Int32Array.of(0, 4))
    expect(topologyHash).toBe(JSON.parse(lines[0]).topology.hash)
    const operations = Array.from({ length: 7 }, (_, rank) => {
      const [from, to] = operationsOfRank(schedule, rank)
      return to - from
    })
    expect(operations).toEqual([6, 0, 0, 0, 1, 0, 0])
    expect(codeOf(() => parseSchedule(sliceSchedule(lines, [0, 4])))).toBe('ERR_SCHEDULE_FORMAT')
    expect(codeOf(() => parseScheduleSlice([...sliceSchedule(lines, [0, 4])].slice(0, 2)))).toBe(
      'ERR_SCHEDULE_FORMAT',
    )
    const [header, line] = sliceSchedule(lines, [0])
    expect(codeOf(() => parseScheduleSlice([header, line, lines[2]]))).toBe('ERR_SCHEDULE_FORMAT')
    for (const slice of ['[7]', '[1,0]', '[0,0]']) {
      expect(codeOf(() => parseScheduleSlice([header.replace('[0]', slice), line]))).toBe(
        'ERR_SCHEDULE_FORMAT',
      )
    }
  })

  test('verifies as far as it goes, and says how far', () => {
    const verification = verifySlice(parseScheduleSlice(sliceSchedule(lines, [0, 2, 3])))
    expect(verification).toMatchObject({ ok: true, violations: [] })
    expect(verification.unproven[0]).toMatch(/^4 messages with ranks outside the slice/)
    expect(verification.unproven).toHaveLength(3)
  })

  test('of all ranks proves everything', () => {
    expect(verifySlice(parseScheduleSlice(lines))).toMatchObject({ ok: true, unproven: [] })
    expect(verifySlice(parseScheduleSlice(sliceSchedule(lines, [0, 1, 2, 3, 4, 5, 6])))).toMatchObject({
      ok: true,
      unproven: [],
    })
  })

  test('reports violations inside it', () => {
    const topology = topologyOf(4, '0 1, 2 1, 1 3')
    const builder = builderFor(topology, 1)
    builder.send(0, 0, 1, 0).add(0, 0) // rank 1 does not receive it
    builder.receive(1, 0, 2, 0).add(2, 2) // whether rank 2 sends it, the slice does not know
    const broken = [...formatSchedule(builder.build())]
    const verification = verifySlice(parseScheduleSlice(sliceSchedule(broken, [0, 1])))
    expect(verification.violations.map(({ code, rank }) => [code, rank])).toEqual([
      ['send-unmatched', 0],
      ['slot-missing', 1],
    ])
  })

  test('with a place out of range is not checked further', () => {
    const broken = lines.map((line) =>
      line.replace('"write":[2,', '"write":[9,').replace('"read":[0]', '"read":[9]'),
    )
    const codes = verifySlice(parseScheduleSlice(sliceSchedule(broken, [0]))).violations.map(
      ({ code }) => code,
    )
    expect(new Set(codes)).toEqual(new Set(['structure']))
  })
})
