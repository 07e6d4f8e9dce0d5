import { describe, expect, it } from 'vitest'
import {
  bestEntry,
  entryOf,
  measuredData,
  selectCalls,
} from '../../../../src/tuning/measured/measured-data.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { callText } from '../../../../src/tuning/settings/tuning-call.js'
import { refusal } from '../../../support/refusal.js'
import { measurementOf } from '../../../support/tuning-data.js'

describe('measurements as rows', () => {
  const data = measuredData([
    measurementOf({ algorithm: 'bcast-linear', bytes: 64, timeUs: 5 }),
    measurementOf({ algorithm: 'bcast-chain', parameters: { fanout: 4 }, bytes: 8, timeUs: 3 }),
    measurementOf({ algorithm: 'bcast-chain', parameters: { fanout: 4 }, bytes: 64, timeUs: 5 }),
    measurementOf({ nodes: 4, processesPerNode: 2, timeUs: 7 }),
    measurementOf({ nodes: 2, processesPerNode: 4, timeUs: 6 }),
    measurementOf({ algorithm: 'bcast-linear', bytes: 8, timesUs: [9, 1, 2, 4], intervalUs: [1, 9] }),
  ])

  it('have calls by kind, processes, nodes and bytes, and settings by text', () => {
    expect(data.calls.map(callText)).toEqual([
      'bcast of 8 B on 1 x 2 processes',
      'bcast of 64 B on 1 x 2 processes',
      'bcast of 8 B on 2 x 4 processes',
      'bcast of 8 B on 4 x 2 processes',
    ])
    expect(data.settings.map(settingLine)).toEqual(['bcast-chain:fanout=4', 'bcast-linear'])
  })

  it('have the median of the times, and its interval', () => {
    expect([...data.rowStart]).toEqual([0, 2, 4, 5, 6])
    expect([...data.setting]).toEqual([0, 1, 0, 1, 1, 1])
    expect([...data.timeUs]).toEqual([3, 3, 5, 5, 6, 7])
    expect([...data.lowUs].slice(0, 2)).toEqual([3, 1])
    expect([...data.highUs].slice(0, 2)).toEqual([3, 9])
  })

  it('have the lowest setting as the best of equal times', () => {
    expect([0, 1, 2, 3].map((row) => data.setting[bestEntry(data, row)])).toEqual([0, 0, 1, 1])
    expect([entryOf(data, 2, 1), entryOf(data, 2, 0)]).toEqual([4, -1])
  })

  it('do not depend on the order of lines, but the last of two for one point counts', () => {
    const lines = [measurementOf({ bytes: 8 }), measurementOf({ bytes: 16 }), measurementOf({ nodes: 3 })]
    expect(measuredData(lines.toReversed())).toEqual(measuredData(lines))
    const twice = measuredData([measurementOf({ timeUs: 4 }), measurementOf({ timeUs: 6 })])
    expect([...twice.timeUs]).toEqual([6])
  })

  it('keep kinds apart: operation, order and shared memory', () => {
    const kinds = [{}, { operation: 'sum' }, { order: 'any' }, { isMemoryShared: true }] as const
    const apart = measuredData(kinds.map((kind) => measurementOf({ collective: 'reduce', ...kind })))
    expect(apart.calls).toHaveLength(4)
    expect(apart.calls.map(callText)).toContain('reduce of 8 B on 1 x 2 processes (order any)')
  })

  it('of some calls keep the indices of settings', () => {
    const some = selectCalls(data, ({ nodes }) => nodes > 1)
    expect([...some.setting]).toEqual([1, 1])
    expect([...some.rowStart]).toEqual([0, 1, 2])
    expect([...some.timeUs]).toEqual([6, 7])
    expect(some.settings).toBe(data.settings)
  })

  it('of none, and of two sources, are refused', () => {
    const other = { ...measurementOf().source, machine: 'another' }
    for (const lines of [[], [measurementOf(), measurementOf({ source: other })]])
      expect(() => measuredData(lines)).toThrow(refusal('ERR_MEASUREMENT'))
    expect(() => measuredData([measurementOf(), measurementOf({ source: other })])).toThrow(
      "simulator 'loggp' on 'cluster:nodes=4' and simulator 'loggp' on 'another'",
    )
  })

  it('of two types of elements are refused where they are of reductions', () => {
    const reduction = (given: object) => measurementOf({ collective: 'reduce', algorithm: 'x', ...given })
    const int32 = reduction({ elementType: 'int32' })
    for (const other of [reduction({}), reduction({ elementType: 'float64' })])
      expect(() => measuredData([int32, other])).toThrow(
        expect.objectContaining({
          code: 'ERR_MEASUREMENT',
          message: 'expected reductions of one type of elements, got int32 and float64',
        }),
      )
    expect(measuredData([reduction({}), reduction({ elementType: 'float64' })]).calls).toHaveLength(1)
    expect(measuredData([int32, measurementOf()]).calls).toHaveLength(2)
  })
})
