import { requireNotAborted } from '../base/abort.js'
import { type Interval, largestOf, medianInterval, smallestOf } from '../base/search.js'
import { laterTurn } from '../base/turn.js'
import {
  type ElementType,
  type Measurement,
  measurementVersion,
  medianTime,
} from '../tuning/measured/measurement.js'
import type { TuningSetting } from '../tuning/settings/setting.js'
import { callText, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { spreadText } from './grid.js'
import { openMeasurementFile } from './measurement-file.js'
import type { Meter } from './meter.js'

/** The number of points by outcome, and those of the file. */
export interface MeasuredPoints extends MeasureCounts {
  readonly calls: number
  /** The points of the file, earlier ones included. */
  readonly points: number
}

/**
 * Measures calls into a file, which it continues.
 *
 * @throws ERR_MEASUREMENT for a damaged file, and one under other conditions; ERR_FILE; ERR_ABORTED through the signal
 */
export async function measureInto(
  path: string,
  meter: Meter,
  calls: readonly TuningCall[],
  options: Pick<MeasureOptions, 'rule' | 'elementType' | 'onCall' | 'signal'>,
): Promise<MeasuredPoints> {
  const file = openMeasurementFile(path, { source: meter.source, elementType: options.elementType })
  file.make()
  const counts = await measureCalls(meter, calls, {
    ...options,
    isMeasured: file.has,
    write: file.append,
  })
  return { ...counts, calls: calls.length, points: file.held + counts.measured }
}

interface MeasureOptions {
  /** The element type of reductions. */
  readonly elementType: ElementType
  readonly rule: StoppingRule
  /** Returns whether a point needs no measuring, because its file has it. */
  isMeasured(call: TuningCall, setting: TuningSetting): boolean
  /** Takes the points of a call once they have been repeated often enough. */
  write(measurement: Measurement): void
  /** Reports the call that is about to be measured. */
  onCall?(call: TuningCall, settings: number, done: number, calls: number): void
  /** A signal that is checked before every round. */
  readonly signal?: AbortSignal
  /** A clock in milliseconds, of which only differences count. Default `performance.now`. */
  readonly now?: () => number
}

/** The number of points by outcome. */
interface MeasureCounts {
  readonly measured: number
  /** The number of points that the file already had. */
  readonly skipped: number
  /** The number of settings that were refused, although their conditions admit the call. */
  readonly refused: number
  /** The points with wrong results, which have no times. */
  readonly wrong: readonly WrongPoint[]
}

export interface WrongPoint {
  readonly call: TuningCall
  readonly setting: TuningSetting
}

/**
 * Measures every setting of every call. Each is verified once, then all are repeated in turn, a round at a time, until
 * each is exact enough or its budget is used up. So a slow drift of the machine affects all settings of a call alike.
 * The first round of each does not count. For the first call of a collective on a spread, no round counts until all
 * settings were exact enough once. Meanwhile code is compiled and connections are made.
 *
 * The time of a repetition is that of the call and a dissemination barrier, less the median of the barrier alone. It is
 * at least half the interval of that median, and a nanosecond, because the barrier hides shorter times.
 *
 * @throws ERR_ABORTED through the signal, after the points that are exact enough were written
 * @see Pjesivac-Grbovic 2007, chapter 6 and appendix A.1.1
 */
export async function measureCalls(
  meter: Meter,
  calls: readonly TuningCall[],
  options: MeasureOptions,
): Promise<MeasureCounts> {
  const counts = { measured: 0, skipped: 0, refused: 0, wrong: [] as WrongPoint[] }
  const warm = new Set<string>()
  for (const [done, call] of calls.entries()) {
    requireNotAborted('measure', options.signal)
    const all = meter.settings(call)
    const open = all.filter((setting) => !options.isMeasured(call, setting))
    counts.skipped += all.length - open.length
    if (open.length === 0) continue
    options.onCall?.(call, open.length, done, calls.length)
    await meter.begin(call, open)
    const right: TuningSetting[] = []
    for (const setting of open) {
      requireNotAborted('measure', options.signal)
      const verdict = meter.isComputed ? 'right' : await meter.verify(setting)
      if (verdict === 'right') right.push(setting)
      else if (verdict === 'refused') counts.refused++
      else counts.wrong.push({ call, setting })
    }
    const warmed = `${call.collective} ${spreadText(call)}`
    if (!meter.isComputed && !warm.has(warmed)) await repeatInTurn(meter, newTimes(right), options)
    warm.add(warmed)
    const times = newTimes(right)
    try {
      await repeatInTurn(meter, times, options)
    } finally {
      counts.measured += writeEnough(meter, call, times, options)
    }
    await meter.end()
  }
  return counts
}

interface Point {
  readonly setting: TuningSetting
  /** The times of the call with the barrier. */
  readonly callUs: number[]
  spentMs: number
  /** Whether a first round, which does not count, is over. */
  isWarm: boolean
  isEnough: boolean
}

function newPoint(setting: TuningSetting): Point {
  return { setting, callUs: [], spentMs: 0, isWarm: false, isEnough: false }
}

/** The points of a call, and the times of the barrier in all their rounds. */
interface CallTimes {
  readonly points: readonly Point[]
  readonly barrierUs: number[]
}

function newTimes(settings: readonly TuningSetting[]): CallTimes {
  return { points: settings.map(newPoint), barrierUs: [] }
}

async function repeatInTurn(
  meter: Meter,
  { points, barrierUs }: CallTimes,
  options: MeasureOptions,
): Promise<void> {
  const { signal, now = () => performance.now() } = options
  const rule = meter.isComputed ? { ...options.rule, repetitions: 1 } : options.rule
  for (let open = points; open.length > 0; open = open.filter((point) => !point.isEnough)) {
    for (const point of open) {
      // Signals of the process arrive between turns.
      await laterTurn()
      requireNotAborted('measure', signal)
      const begin = now()
      const round = await meter.time(point.setting, repetitionsOfRound(rule, point.callUs))
      point.spentMs += now() - begin
      if (point.isWarm || meter.isComputed) {
        for (const us of round.callUs) point.callUs.push(us)
        for (const us of round.barrierUs) barrierUs.push(us)
      }
      point.isWarm = true
    }
    const barrier = barrierTime(barrierUs)
    for (const point of open) {
      const { callUs, spentMs } = point
      point.isEnough =
        callUs.length > 0 && isEnough(rule, callUs, medianTime(netTimes(callUs, barrier)), spentMs)
    }
  }
}

/** Writes the points that are exact enough, less the barrier that they share, and returns their number. */
function writeEnough(
  meter: Meter,
  call: TuningCall,
  { points, barrierUs }: CallTimes,
  { write, elementType }: MeasureOptions,
): number {
  const enough = points.filter((point) => point.isEnough)
  const barrier = barrierTime(barrierUs)
  for (const { setting, callUs } of enough) {
    const [timesUs, intervalUs] = [netTimes(callUs, barrier), netInterval(callUs, barrier)]
    const barrierUs = toNanoseconds(barrier.medianUs)
    write(measurementOf(meter, call, setting, { elementType, timesUs, intervalUs, barrierUs }))
  }
  return enough.length
}

interface BarrierTime {
  readonly medianUs: number
  /** Half the interval of the median. */
  readonly uncertaintyUs: number
}

export function barrierTime(barrierUs: readonly number[]): BarrierTime {
  if (barrierUs.length === 0) return { medianUs: 0, uncertaintyUs: 0 }
  const [low, high] = timeInterval(barrierUs)
  return { medianUs: medianTime(barrierUs), uncertaintyUs: (high - low) / 2 }
}

const nanosecondUs = 0.001

/** Returns the times of calls without the barrier after each, rounded to nanoseconds. */
export function netTimes(callUs: readonly number[], { medianUs, uncertaintyUs }: BarrierTime): number[] {
  const least = Math.max(nanosecondUs, uncertaintyUs)
  return callUs.map((us) => toNanoseconds(Math.max(least, us - medianUs)))
}

/** Returns the interval of the median of these times, from a nanosecond on if the barrier hides it. */
export function netInterval(callUs: readonly number[], barrier: BarrierTime): Interval {
  const { medianUs, uncertaintyUs } = barrier
  const isHidden = medianTime(callUs) - medianUs <= uncertaintyUs
  const [low, high] = timeInterval(netTimes(callUs, barrier))
  return [isHidden ? nanosecondUs : low, high]
}

function toNanoseconds(us: number): number {
  return Math.round(us * 1000) / 1000
}

function measurementOf(
  { source }: Meter,
  call: TuningCall,
  { algorithm, parameters }: TuningSetting,
  {
    elementType,
    timesUs,
    intervalUs,
    barrierUs,
  }: Required<Pick<Measurement, 'elementType' | 'timesUs' | 'intervalUs' | 'barrierUs'>>,
): Measurement {
  return {
    ...{ version: measurementVersion, source, ...call, algorithm, parameters },
    ...(isReduction(call.collective) ? { elementType } : {}),
    ...{ timesUs, intervalUs },
    ...(barrierUs > 0 ? { barrierUs } : {}),
  }
}

/** The rule that ends the repetitions of a point. */
export interface StoppingRule {
  /** The half width of the interval of the median that suffices, as a share of the median. */
  readonly precision: number
  /** The most repetitions of a point: 1 to 1,024. */
  readonly repetitions: number
  /**
   * The milliseconds that the repetitions of a point may take. Too few for an interval of their median may take four
   * times as long. There is at least one round.
   */
  readonly budgetMs: number
}

/** The time that a setting takes before the next one is due. */
const roundUs = 2000
const mostInRound = 32
const firstRound = 2
/** The number of budgets that a point may use until its median has an interval. */
const budgetsWithoutInterval = 4

/**
 * Returns whether a point needs no more repetitions.
 *
 * @param callUs with the barrier that separates repetitions, whose median is in every one
 * @param medianUs without it
 */
export function isEnough(
  rule: StoppingRule,
  callUs: readonly number[],
  medianUs: number,
  spentMs: number,
): boolean {
  if (callUs.length >= rule.repetitions) return true
  const interval = medianInterval(callUs)
  if (interval === null) return callUs.length > 0 && spentMs >= budgetsWithoutInterval * rule.budgetMs
  if (spentMs >= rule.budgetMs) return true
  return (interval[1] - interval[0]) / 2 <= rule.precision * medianUs
}

/** Returns the 95% confidence interval of the median of times, or the range of too few for that. */
export function timeInterval(timesUs: readonly number[]): Interval {
  return medianInterval(timesUs) ?? [smallestOf(timesUs), largestOf(timesUs)]
}

/**
 * Returns the repetitions of the next round of a setting. Long calls get few, so that settings alternate; short calls
 * get more, because they take less time than the start of a round.
 */
export function repetitionsOfRound(rule: StoppingRule, callUs: readonly number[]): number {
  const left = rule.repetitions - callUs.length
  if (callUs.length === 0) return Math.min(left, firstRound)
  return Math.min(left, mostInRound, Math.max(1, Math.ceil(roundUs / medianTime(callUs))))
}

const progressMs = 1000

/** Returns a function that reports each call that is measured, at most one line a second. */
export function progressLines(
  write: (line: string) => void,
  now: () => number = () => performance.now(),
): (call: TuningCall, settings: number, done: number, calls: number) => void {
  let shownMs = Number.NEGATIVE_INFINITY
  return (call, settings, done, calls) => {
    if (now() - shownMs < progressMs) return
    shownMs = now()
    const count = settings === 1 ? '1 setting' : `${settings} settings`
    write(`call ${done + 1} of ${calls}: ${callText(call)}, ${count}`)
  }
}
