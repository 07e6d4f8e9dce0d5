import { describe, expect, it } from 'vitest'
import { predictUs } from '../../../src/cost/models/predict.js'
import { builtInProfiles } from '../../../src/machine/built-in-profiles.js'
import { estimatedData } from '../../../src/tuning/estimated-data.js'
import { entryOf, measuredData } from '../../../src/tuning/measured-data.js'
import type { Measurement } from '../../../src/tuning/measurement.js'
import { penaltyOf } from '../../../src/tuning/penalty.js'
import { formulaPredictor, modelOfLevel } from '../../../src/tuning/predictors.js'
import { exactSelector } from '../../../src/tuning/selector.js'
import { measurementOf, powersOfTwo } from '../../support/tuning-data.js'

const grig = builtInProfiles.find(({ name }) => name === 'grig-mx')!
const hockney = formulaPredictor(grig, 'hockney')
const at = { nodes: 4, processesPerNode: 1 } as const
const timesOf = (bytes: readonly number[], timeUs: (bytes: number) => number, algorithm = 'bcast-linear') =>
  bytes.map((size) => measurementOf({ ...at, bytes: size, algorithm, timeUs: timeUs(size) }))

describe('times that were not measured', () => {
  it('are on the line between neighbors in bytes, as powers are', () => {
    const lines = [
      ...timesOf([1, 16, 256, 4096], (n) => 3 * n ** 0.5),
      ...timesOf([1, 4096], (n) => 2 * n ** 0.75, 'bcast-chain'),
    ]
    const { data, origin } = estimatedData(measuredData(lines), null)
    expect(data.calls.map(({ bytes }) => bytes)).toEqual([1, 16, 256, 4096])
    expect([...origin]).toEqual([0, 0, 1, 0, 1, 0, 0, 0])
    const chain = (row: number) => data.timeUs[entryOf(data, row, 0)]
    expect([chain(1), chain(2)].map((us) => Number(us.toFixed(9)))).toEqual([16, 128])
    expect(data.lowUs[entryOf(data, 1, 0)]).toBeCloseTo(16, 9)
  })

  it('are what a model predicts, as much more as at other calls', () => {
    const us = (bytes: number) =>
      1.5 * predictUs('bcast-binomial', modelOfLevel(grig, 'network', 'hockney'), { ranks: 4, bytes })
    const lines = [...timesOf([8, 1024, 65_536], () => 50), ...timesOf([8, 1024], us, 'bcast-binomial')]
    const measured = measuredData(lines)
    expect(estimatedData(measured, null).data.timeUs).toHaveLength(5)
    const { data, origin } = estimatedData(measured, hockney)
    const last = entryOf(data, 2, 0)
    expect(origin[last]).toBe(2)
    expect(data.timeUs[last]).toBeCloseTo(us(65_536), 9)
  })

  it('are not made up for processes that an algorithm does not serve', () => {
    const algorithm = 'allgather-recursive-doubling'
    const one = { collective: 'allgather', processesPerNode: 1, bytes: 64 } as const
    const lines = [
      measurementOf({ ...one, nodes: 4, algorithm }),
      measurementOf({ ...one, nodes: 4, algorithm: 'allgather-ring' }),
      measurementOf({ ...one, nodes: 6, algorithm: 'allgather-ring' }),
    ]
    const { data } = estimatedData(measuredData(lines), hockney, [
      { ...one, nodes: 8 },
      { ...one, nodes: 7 },
    ])
    expect(data.calls.map(({ nodes }) => nodes)).toEqual([4, 6, 7, 8])
    expect([...data.rowStart]).toEqual([0, 2, 3, 4, 6])
  })

  it('leave out a call of which nothing is known', () => {
    const measured = measuredData(timesOf([8], () => 1))
    const call = { collective: 'barrier', nodes: 4, processesPerNode: 1, bytes: 0 } as const
    expect(estimatedData(measured, hockney, [call]).data.calls).toHaveLength(1)
  })
})

it('decisions from few measurements with a model lose less than from the measurements alone', () => {
  const settings = [
    { algorithm: 'bcast-linear', segment: null },
    { algorithm: 'bcast-binomial', segment: null },
    { algorithm: 'bcast-chain', segment: 1024 },
    { algorithm: 'bcast-chain', segment: 8192 },
  ]
  // Truth: LogGP of the machine; the model: Hockney's.
  const linesAt = (nodes: readonly number[], sizes: readonly number[]): Measurement[] =>
    nodes.flatMap((P) =>
      sizes.flatMap((bytes) =>
        settings.map(({ algorithm, segment }) => {
          const segmentBytes = segment ?? Math.max(1, bytes)
          const model = modelOfLevel(grig, 'network', 'loggp')
          const timeUs = predictUs(algorithm, model, { ranks: P, bytes, segmentBytes })
          const parameters: Record<string, number> = segment === null ? {} : { segment }
          return measurementOf({ algorithm, parameters, nodes: P, processesPerNode: 1, bytes, timeUs })
        }),
      ),
    )
  const all = measuredData(linesAt([2, 3, 4, 6, 8, 12, 16, 24, 32], powersOfTwo(21)))
  const few = measuredData(linesAt([4, 16], [1, 2 ** 10, 2 ** 20]))
  const estimated = estimatedData(few, hockney, all.calls).data
  const alone = exactSelector(few)
  const nearest = (nodes: number, bytes: number) =>
    alone({
      ...all.calls[0],
      nodes: nodes <= 8 ? 4 : 16,
      bytes: bytes <= 32 ? 1 : bytes <= 2 ** 15 ? 2 ** 10 : 2 ** 20,
    })
  const without = penaltyOf(all, ({ nodes, bytes }) => nearest(nodes, bytes))
  const withModel = penaltyOf(all, exactSelector(estimated))
  expect([without.missing, withModel.missing]).toEqual([0, 0])
  expect(withModel.meanPercent).toBeLessThan(without.meanPercent / 2)
})
