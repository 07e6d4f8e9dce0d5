import { describe, expect, it } from 'vitest'
import { barrierTime, measureCalls, netInterval, netTimes } from '../../../src/measure/measure-calls.js'
import type { CallVerdict, Meter } from '../../../src/measure/meter.js'
import type { Measurement } from '../../../src/tuning/measured/measurement.js'
import type { TuningSetting } from '../../../src/tuning/settings/setting.js'
import type { TuningCall } from '../../../src/tuning/settings/tuning-call.js'

const rule = { precision: 0.05, repetitions: 6, budgetMs: 1e9 }
const call: TuningCall = { collective: 'bcast', nodes: 2, processesPerNode: 2, bytes: 8 }
const setting = (algorithm: string): TuningSetting => ({ collective: 'bcast', algorithm, parameters: {} })

/** A meter that logs what it is asked; times are those of the algorithm, above a barrier of 10 us. */
function loggingMeter(times: Readonly<Record<string, number>>, verdicts: Record<string, CallVerdict> = {}) {
  const log: string[] = []
  const meter: Meter = {
    source: { kind: 'mpi', name: 'library', machine: 'machine' },
    isComputed: false,
    algorithms: () => [],
    settings: () => Object.keys(times).map(setting),
    begin: async () => void log.push('begin'),
    verify: async ({ algorithm }) => {
      log.push(`verify ${algorithm}`)
      return verdicts[algorithm] ?? 'right'
    },
    time: async ({ algorithm }, repetitions) => {
      log.push(`time ${algorithm} ${repetitions}`)
      const us = new Array<number>(repetitions)
      return { callUs: us.fill(times[algorithm] + 10).slice(), barrierUs: us.fill(10).slice() }
    },
    end: async () => void log.push('end'),
  }
  return { meter, log }
}

const written: Measurement[] = []
const options = {
  rule,
  elementType: 'int32' as const,
  isMeasured: () => false,
  write: (measurement: Measurement) => void written.push(measurement),
  now: () => 0,
}

describe('the settings of a call', () => {
  it('are verified, warmed by a round that does not count, and repeated in turn', async () => {
    written.length = 0
    const { meter, log } = loggingMeter({ chain: 1000, linear: 5000 })
    const counts = await measureCalls(meter, [call], options)
    const repeated = [
      ...['time chain 2', 'time linear 2', 'time chain 2', 'time linear 2', 'time chain 2'],
      ...['time linear 1', 'time chain 2', 'time linear 1', 'time linear 1', 'time linear 1'],
    ]
    expect(log).toEqual(['begin', 'verify chain', 'verify linear', ...repeated, ...repeated, 'end'])
    expect(counts).toEqual({ measured: 2, skipped: 0, refused: 0, wrong: [] })
    expect(written).toEqual([
      {
        ...{ version: 1, source: meter.source, ...call, algorithm: 'chain', parameters: {} },
        ...{ timesUs: new Array(6).fill(1000), intervalUs: [1000, 1000], barrierUs: 10 },
      },
      expect.objectContaining({ algorithm: 'linear', timesUs: new Array(6).fill(5000) }),
    ])
  })

  it('are repeated before, without counting, where no call of their collective was on these processes', async () => {
    written.length = 0
    const { meter } = loggingMeter({ a: 1000 })
    let round = 0
    const slowAtFirst: Meter = {
      ...meter,
      async time(one, repetitions) {
        const times = await meter.time(one, repetitions)
        return ++round > 4 ? times : { ...times, callUs: times.callUs.map((us) => us * 50) }
      },
    }
    const [longer, wider] = [
      { ...call, bytes: 16 },
      { ...call, nodes: 4 },
    ]
    await measureCalls(slowAtFirst, [call, longer, wider], options)
    // 2 + 2 + 4 x 1 slow repetitions would be left of the first call otherwise.
    expect(written.map(({ timesUs }) => timesUs)).toEqual([1, 2, 3].map(() => new Array(6).fill(1000)))
    const rounds = (of: readonly TuningCall[]) => {
      const { meter: another, log } = loggingMeter({ a: 1000 })
      return measureCalls(another, of, options).then(
        () => log.filter((line) => line.startsWith('time')).length,
      )
    }
    expect(await Promise.all([rounds([call]), rounds([call, longer]), rounds([call, wider])])).toEqual([
      8, 12, 16,
    ])
  })

  it('are not timed where they are in the file, refused or wrong', async () => {
    written.length = 0
    const { meter, log } = loggingMeter({ a: 1, b: 1, c: 1, d: 1 }, { b: 'refused', c: 'wrong' })
    const counts = await measureCalls(meter, [call], {
      ...options,
      isMeasured: (_, { algorithm }) => algorithm === 'a',
    })
    expect(log.filter((line) => line.startsWith('time')).every((line) => line.startsWith('time d'))).toBe(
      true,
    )
    expect(counts).toEqual({
      ...{ measured: 1, skipped: 1, refused: 1 },
      wrong: [{ call, setting: setting('c') }],
    })
    expect(written.map(({ algorithm }) => algorithm)).toEqual(['d'])
  })

  it('need nothing where all of them are in the file', async () => {
    const { meter, log } = loggingMeter({ a: 1, b: 1 })
    const counts = await measureCalls(meter, [call, call], { ...options, isMeasured: () => true })
    expect(log).toEqual([])
    expect(counts).toEqual({ measured: 0, skipped: 4, refused: 0, wrong: [] })
  })

  it('that are done when the command is interrupted are written', async () => {
    written.length = 0
    const interrupt = new AbortController()
    const { meter } = loggingMeter({ short: 1, long: 5000 })
    let rounds = 0
    const interrupted: Meter = {
      ...meter,
      async time(one, repetitions) {
        if (one.algorithm === 'long' && ++rounds === 9) interrupt.abort()
        return meter.time(one, repetitions)
      },
    }
    const measuring = measureCalls(interrupted, [call], { ...options, signal: interrupt.signal })
    await expect(measuring).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    expect(written.map(({ algorithm }) => algorithm)).toEqual(['short'])
  })

  it('are computed once, by a meter that computes', async () => {
    written.length = 0
    const { meter, log } = loggingMeter({ a: 7 })
    await measureCalls({ ...meter, isComputed: true }, [call], options)
    expect(log).toEqual(['begin', 'time a 1', 'end'])
    expect(written[0].timesUs).toEqual([7])
  })
})

describe('the time of a repetition', () => {
  it('is that of the call less the median of the barrier', () => {
    expect(netTimes([110, 120.1234], barrierTime([10, 10, 10, 10, 10, 10, 10, 10, 90]))).toEqual([
      100, 110.123,
    ])
  })

  it('is at least what the barrier is uncertain by, and a nanosecond', () => {
    expect(netTimes([9, 12, 50], barrierTime([8, 10, 10, 10, 10, 14]))).toEqual([3, 3, 40])
    expect(netTimes([9], barrierTime([10, 10]))).toEqual([0.001])
  })
})

describe('the interval of a time', () => {
  const barrier = barrierTime([8, 10, 10, 10, 10, 14])

  it('is that of the calls less the barrier, above what the barrier is uncertain by', () => {
    expect(netInterval([110, 111, 112, 113, 114, 120], barrier)).toEqual([100, 110])
    expect(netInterval([9, 20, 21, 22, 23, 24], barrier)).toEqual([3, 14])
  })

  it('begins at a nanosecond where the barrier hides the call: that is no exact time', () => {
    expect(netInterval([9, 9, 9, 10, 11, 12], barrier)).toEqual([0.001, 3])
    expect(netInterval([9, 9, 9, 10, 11, 30], barrier)).toEqual([0.001, 20])
  })
})
