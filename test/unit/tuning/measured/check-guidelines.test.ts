import { describe, expect, it } from 'vitest'
import type { Collective } from '../../../../src/schedule/specification.js'
import {
  allowedGrowth,
  checkGuidelines,
  compositionGuidelines,
  guidelineText,
} from '../../../../src/tuning/measured/guidelines.js'
import { type MeasuredData, measuredData } from '../../../../src/tuning/measured/measured-data.js'
import type { Measurement } from '../../../../src/tuning/measured/measurement.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { callText } from '../../../../src/tuning/settings/tuning-call.js'
import { measurementOf } from '../../../support/tuning-data.js'

/** Of 1 x 4 processes unless given. */
const point = (collective: Collective, bytes: number, timeUs: number, more: Partial<Measurement> = {}) =>
  measurementOf({ collective, algorithm: `${collective}-a`, processesPerNode: 4, bytes, timeUs, ...more })

const found = (...lines: readonly Measurement[]) => checkGuidelines(measuredData(lines))
const named = (data: MeasuredData, settings: readonly number[]) =>
  settings.map((i) => settingLine(data.settings[i]))

describe('compositions', () => {
  it('an allgather slower than gather and bcast is found, with its factor and the calls that avoid it', () => {
    const data = measuredData([point('allgather', 8, 90), point('gather', 8, 10), point('bcast', 32, 20)])
    const [violation, ...others] = checkGuidelines(data)
    expect(others).toEqual([])
    expect(violation).toMatchObject({
      ...{ guideline: 'allgather <= gather + bcast', call: { collective: 'allgather', bytes: 8 } },
      ...{ timeUs: 90, boundUs: 30, factor: 3, remedy: { kind: 'composition', timeUs: 30 } },
    })
    expect(violation.by.map(callText)).toEqual([
      'gather of 8 B on 1 x 4 processes',
      'bcast of 32 B on 1 x 4 processes',
    ])
    expect(named(data, violation.remedy!.settings)).toEqual(['gather-a', 'bcast-a'])
  })

  it('a better setting of the call is the remedy where the chosen one is not the best', () => {
    const data = measuredData([
      point('allgather', 8, 90),
      point('allgather', 8, 25, { algorithm: 'allgather-b' }),
      point('gather', 8, 10),
      point('bcast', 32, 20),
    ])
    expect(checkGuidelines(data)).toEqual([])
    const chosen = data.settings.findIndex(({ algorithm }) => algorithm === 'allgather-a')
    const select = ({ collective }: { readonly collective: Collective }) =>
      collective === 'allgather' ? chosen : data.settings.findIndex((one) => one.collective === collective)
    const [violation] = checkGuidelines(data, select)
    expect(violation).toMatchObject({ setting: chosen, factor: 3, remedy: { kind: 'setting', timeUs: 25 } })
    expect(named(data, violation.remedy!.settings)).toEqual(['allgather-b'])
  })

  it('a bcast is compared with scatter and allgather of its parts, rounded up and padded to measured sizes', () => {
    const lines = [point('bcast', 100, 90), point('scatter', 25, 5), point('allgather', 32, 10)]
    expect(found(...lines)).toMatchObject([{ guideline: 'bcast <= scatter + allgather', factor: 6 }])
    // 101 bytes are parts of 26, which only the allgather has room for.
    expect(found(point('bcast', 101, 90), ...lines.slice(1))).toEqual([])
  })

  const rows = compositionGuidelines.map((guideline) => [guidelineText(guideline), guideline] as const)

  it.each(rows)('%s is checked on its sizes, and holds at equality', (text, { collective, parts }) => {
    const bytes = collective === 'barrier' ? 0 : 64
    const others = parts.map((part) => point(part.collective, part.bytes(bytes, 4), 10))
    const bound = 10 * parts.length
    expect(found(point(collective, bytes, bound), ...others)).toEqual([])
    const violations = found(point(collective, bytes, 2 * bound), ...others)
    expect(violations).toMatchObject([{ guideline: text, factor: 2 }])
  })

  it('of reductions compare calls of one operation, of others all', () => {
    const sum = { operation: 'sum', order: 'any' } as const
    const slow = point('allreduce', 64, 90, sum)
    expect(found(slow, point('reduce', 64, 10, sum), point('bcast', 64, 10))).toHaveLength(1)
    expect(
      found(slow, point('reduce', 64, 10, { ...sum, operation: 'max' }), point('bcast', 64, 10)),
    ).toEqual([])
    expect(
      found(slow, point('reduce', 64, 10, sum), point('bcast', 64, 10, { isMemoryShared: true })),
    ).toEqual([])
  })

  it('compare the same spread over nodes', () => {
    const elsewhere = { nodes: 2, processesPerNode: 2 }
    expect(found(point('gather', 8, 90), point('allgather', 8, 10, elsewhere))).toEqual([])
    expect(found(point('gather', 8, 90, elsewhere), point('allgather', 8, 10, elsewhere))).toHaveLength(1)
  })
})

describe('noise', () => {
  it('within which intervals overlap is no violation', () => {
    const wide = { timesUs: [9, 12, 20], intervalUs: [9, 20] } as const
    const apart = { timesUs: [11, 12, 20], intervalUs: [11, 20] } as const
    expect(found(point('gather', 8, 0, wide), point('allgather', 8, 10))).toEqual([])
    expect(found(point('gather', 8, 0, apart), point('allgather', 8, 10))).toMatchObject([{ factor: 1.2 }])
  })

  it('a bound that the barrier hid is no time: it counts with the barrier that was subtracted', () => {
    const hidden = { timesUs: [0.003], intervalUs: [0.001, 0.003], barrierUs: 8 } as const
    const smaller = { ...hidden, processesPerNode: 2 } as const
    expect(found(point('bcast', 8, 15), point('bcast', 8, 0, smaller))).toEqual([])
    // Four processes may take three times as long as two.
    const [{ boundUs, factor }] = found(point('bcast', 8, 48.018), point('bcast', 8, 0, smaller))
    expect([boundUs, factor]).toEqual([24.009, 2])
    // Without the barrier, 16 bytes would be a stricter bound than 32.
    const longer = [point('bcast', 16, 0, hidden), point('bcast', 32, 6)]
    expect(found(point('bcast', 8, 9), ...longer)).toMatchObject([{ by: [{ bytes: 32 }], boundUs: 6 }])
  })
})

describe('more bytes', () => {
  it('take no less time: a call is compared with the fastest longer one, to which it can be padded', () => {
    const data = measuredData([8, 16, 32, 64].map((bytes, i) => point('bcast', bytes, [20, 30, 15, 12][i])))
    const violations = checkGuidelines(data)
    expect(violations.map(({ call, factor }) => [call.bytes, factor])).toEqual([
      [16, 2.5],
      [8, 20 / 12],
      [32, 1.25],
    ])
    expect(violations[0]).toMatchObject({
      guideline: 'more bytes',
      by: [{ bytes: 64 }],
      remedy: { kind: 'padding', timeUs: 12 },
    })
  })

  it('hold for times that ascend', () => {
    expect(found(...[8, 16, 32].map((bytes) => point('bcast', bytes, bytes)))).toEqual([])
  })
})

describe('neighboring numbers of processes', () => {
  const at = (nodes: number, timeUs: number, processesPerNode = 1) =>
    point('allreduce', 8, timeUs, { nodes, processesPerNode })

  it('128 that take ten times as long as 127 are found', () => {
    expect(found(at(127, 10), at(128, 100))).toMatchObject([
      { guideline: 'fewer processes', call: { nodes: 128 }, by: [{ nodes: 127 }], remedy: null },
    ])
    expect(found(at(127, 10), at(128, 11))).toEqual([])
  })

  it('127 that take longer than 128 are found', () => {
    expect(found(at(127, 20), at(128, 10))).toMatchObject([
      { guideline: 'more processes', call: { nodes: 127 }, factor: 2 },
    ])
  })

  it('a setting that avoids it is named', () => {
    const fast = point('allreduce', 8, 11, { algorithm: 'allreduce-b', nodes: 128, processesPerNode: 1 })
    const data = measuredData([at(127, 10), at(128, 100), fast])
    const slow = data.settings.findIndex(({ algorithm }) => algorithm === 'allreduce-a')
    const [violation] = checkGuidelines(data, () => slow)
    expect(named(data, violation.remedy!.settings)).toEqual(['allreduce-b'])
  })

  it('are those of as many processes per node, or of as many nodes; one node is not compared with two', () => {
    expect(found(at(2, 1, 4), at(2, 100, 5))).toHaveLength(1)
    expect(found(at(2, 1, 4), at(3, 100, 5))).toEqual([])
    expect(found(at(1, 1, 4), at(2, 100, 4))).toEqual([])
    expect(found(at(1, 1), at(1, 100, 2))).toEqual([])
  })

  it('may grow in proportion, or by a round past a power of two', () => {
    expect(allowedGrowth(8, 32)).toBe(4)
    expect(allowedGrowth(4, 5)).toBe(2)
    expect(allowedGrowth(127, 128)).toBeCloseTo(8 / 7)
    expect(allowedGrowth(128, 129)).toBeCloseTo(9 / 7)
  })
})

it('calls whose setting has no time are left out', () => {
  const data = measuredData([point('gather', 8, 90), point('allgather', 8, 10)])
  expect(checkGuidelines(data)).toHaveLength(1)
  expect(checkGuidelines(data, () => -1)).toEqual([])
})
