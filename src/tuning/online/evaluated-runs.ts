import { type Interval, medianInterval } from '../../base/median-interval.js'
import type { Collective } from '../../schedule/specification.js'
import { callKey, type TuningCall } from '../settings/tuning-call.js'
import type { CallFile } from './call-file.js'
import type { TimedCall } from './learn-grid.js'
import type { NumberedSettings } from './numbered-settings.js'
import { medianRatioInterval, middleUs, timesBySize } from './size-times.js'
import { timedCalls } from './timed-calls.js'

/** A comparison of runs that used a model with runs by default. */
export interface EvaluatedRuns {
  readonly runs: number
  readonly defaultRuns: number
  /**
   * The pairs of runs with the same calls, the first with the first, the second with the second. Below, the recorded
   * microseconds of both in all, medians over the pairs; NaN without a pair.
   */
  readonly pairs: number
  readonly tunedUs: number
  readonly defaultUs: number
  /** The median of the pairs' ratios, tuned over default. */
  readonly ratio: number
  /** An interval that holds it with at least 95%, whatever the distribution is; null for fewer than 6 pairs. */
  readonly interval: Interval | null
  /** The sizes, those with the most calls first. */
  readonly sizes: readonly EvaluatedSize[]
}

/** The calls of one size in runs that used a model. */
export interface EvaluatedSize {
  readonly call: TuningCall
  readonly calls: number
  readonly defaultCalls: number
  /** The runs that have the calls by default: those that evaluate or, if these have none, those that explored. */
  readonly defaultOf: 'evaluation' | 'exploring'
  /** The median microseconds; NaN without calls. */
  readonly tunedUs: number
  readonly defaultUs: number
  readonly ratio: number
  /** An interval that holds it with at least 95% if calls are independent; null for fewer than 7 calls of one kind. */
  readonly interval: Interval | null
}

/**
 * Returns the gains of a model in runs from which nothing is learned.
 *
 * @param exploredByDefault times of calls by default in runs that explored, by {@link callKey}
 */
export function evaluatedRuns(
  tuned: readonly CallFile[],
  byDefault: readonly CallFile[],
  table: NumberedSettings,
  exploredByDefault: ReadonlyMap<string, readonly number[]>,
): EvaluatedRuns {
  const [own, others] = [tuned, byDefault].map((files) => files.map((file) => runCalls(file, table)))
  const pairs = pairedRuns(own, others)
  const ratios = pairs.map(([a, b]) => a.totalUs / b.totalUs)
  const defaultTimes = timesByKey(others)
  return {
    ...{ runs: tuned.length, defaultRuns: byDefault.length, pairs: pairs.length },
    tunedUs: middleUs(pairs.map(([run]) => run.totalUs)),
    defaultUs: middleUs(pairs.map(([, run]) => run.totalUs)),
    ...{ ratio: middleUs(ratios), interval: medianInterval(ratios) },
    sizes: allSizes(own).map(({ call, calls, timesUs }): EvaluatedSize => {
      const key = callKey(call)
      const evaluated = defaultTimes.get(key)
      const ofDefault = evaluated ?? exploredByDefault.get(key) ?? []
      const times = [...timesUs.values()].flat()
      const [tunedUs, defaultUs] = [middleUs(times), middleUs(ofDefault)]
      return {
        ...{ call, calls, defaultCalls: ofDefault.length, tunedUs, defaultUs, ratio: tunedUs / defaultUs },
        defaultOf: evaluated === undefined ? 'exploring' : 'evaluation',
        interval: medianRatioInterval(times, ofDefault),
      }
    }),
  }
}

interface RecordedRun {
  readonly timed: ReadonlyMap<Collective, readonly TimedCall[]>
  readonly totalUs: number
  /** A text that is equal for runs with the same calls in some order. */
  readonly signature: string
}

function runCalls(file: CallFile, table: NumberedSettings): RecordedRun {
  const { timed } = timedCalls(file, table)
  const sizes = allSizes([{ timed }])
  return {
    timed,
    totalUs: sizes.reduce((sum, { totalUs }) => sum + totalUs, 0),
    signature: sizes
      .map(({ call, calls }) => `${callKey(call)} ${calls}`)
      .sort()
      .join(),
  }
}

function allSizes(runs: readonly Pick<RecordedRun, 'timed'>[]) {
  const timed = new Map<Collective, TimedCall[]>()
  for (const run of runs)
    for (const [collective, calls] of run.timed) {
      const known = timed.get(collective) ?? []
      for (const call of calls) known.push(call)
      timed.set(collective, known)
    }
  return [...timed]
    .flatMap(([collective, calls]) => timesBySize(collective, calls))
    .sort((a, b) => b.calls - a.calls)
}

function timesByKey(runs: readonly RecordedRun[]): Map<string, readonly number[]> {
  return new Map(
    allSizes(runs).map(({ call, timesUs }) => [callKey(call), [...timesUs.values()].flat()] as const),
  )
}

function pairedRuns(
  tuned: readonly RecordedRun[],
  byDefault: readonly RecordedRun[],
): (readonly [RecordedRun, RecordedRun])[] {
  const waiting = new Map<string, RecordedRun[]>()
  for (const run of byDefault) {
    const ofSignature = waiting.get(run.signature)
    if (ofSignature === undefined) waiting.set(run.signature, [run])
    else ofSignature.push(run)
  }
  return tuned.flatMap((run) => {
    const partner = waiting.get(run.signature)?.shift()
    return partner === undefined ? [] : [[run, partner] as const]
  })
}
