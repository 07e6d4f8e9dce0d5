import { RankweaveError } from '../../errors.js'
import { compareSettings, settingLine, type TuningSetting } from '../settings/setting.js'
import { callKey, compareCalls, isReduction, type TuningCall } from '../settings/tuning-call.js'
import { type Measurement, type MeasurementSource, medianTime } from './measurement.js'

/**
 * Measurements of one source as compressed rows: row i has the times of call i, one for every setting that was measured
 * there.
 *
 * Row i consists of entries `rowStart[i]` to `rowStart[i + 1] - 1`, by ascending setting; every row has at least one.
 * Memory: 36 bytes an entry, besides calls and settings.
 */
export interface MeasuredData {
  readonly source: MeasurementSource
  /** The calls in the order of `compareCalls`, each once. */
  readonly calls: readonly TuningCall[]
  /** The settings in the order of `compareSettings`, each once. Decisions name them by their index. */
  readonly settings: readonly TuningSetting[]
  /** The first entry of each row. Length: calls + 1. */
  readonly rowStart: Int32Array
  /** The index of the setting, by entry. */
  readonly setting: Int32Array
  /** The median in microseconds, by entry. */
  readonly timeUs: Float64Array
  /** The low end of the median's 95% confidence interval, by entry; `highUs` has the high end. */
  readonly lowUs: Float64Array
  readonly highUs: Float64Array
  /** The barrier that was subtracted, which may hide as much of the call; 0 if none was. By entry. */
  readonly barrierUs: Float64Array
}

/**
 * Returns the measurements as rows. Of several for one setting and call the last counts.
 *
 * @throws ERR_MEASUREMENT for none, for measurements of different sources, and for reductions of different elements
 */
export function measuredData(measurements: readonly Measurement[]): MeasuredData {
  const [first] = measurements
  if (first === undefined)
    throw new RankweaveError('ERR_MEASUREMENT', 'expected at least one measurement, got none')
  const { source } = first
  for (const { source: other } of measurements) requireSameSource(source, other)
  requireSameElements(measurements)
  const settings = distinct(measurements, settingKey, settingOf).sort(compareSettings)
  const index = new Map(settings.map((setting, i) => [settingKey(setting), i]))
  const rows = new Map<string, { readonly call: TuningCall; readonly last: Map<number, Measurement> }>()
  for (const measurement of measurements) {
    const key = callKey(measurement)
    const row = rows.get(key) ?? { call: callOf(measurement), last: new Map() }
    rows.set(key, row)
    row.last.set(index.get(settingKey(measurement))!, measurement)
  }
  return packed(
    source,
    settings,
    [...rows.values()].sort((a, b) => compareCalls(a.call, b.call)),
  )
}

/** Returns the rows of calls that fulfill a condition; settings keep their indices. */
export function selectCalls(data: MeasuredData, isWanted: (call: TuningCall) => boolean): MeasuredData {
  const { calls, rowStart, setting, timeUs, lowUs, highUs, barrierUs } = data
  const entries: number[] = []
  const kept: TuningCall[] = []
  const starts = [0]
  calls.forEach((call, i) => {
    if (!isWanted(call)) return
    kept.push(call)
    for (let entry = rowStart[i]; entry < rowStart[i + 1]; entry++) entries.push(entry)
    starts.push(entries.length)
  })
  const taken = (values: Float64Array) => Float64Array.from(entries, (entry) => values[entry])
  return {
    ...data,
    calls: kept,
    rowStart: Int32Array.from(starts),
    setting: Int32Array.from(entries, (entry) => setting[entry]),
    timeUs: taken(timeUs),
    lowUs: taken(lowUs),
    highUs: taken(highUs),
    barrierUs: taken(barrierUs),
  }
}

/** Returns the entry of a setting in a row, or -1. */
export function entryOf({ rowStart, setting }: MeasuredData, row: number, wanted: number): number {
  for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++)
    if (setting[entry] === wanted) return entry
  return -1
}

/** Returns the entry of the shortest time in a row; of equal ones that of the lowest setting. */
export function bestEntry({ rowStart, timeUs }: MeasuredData, row: number): number {
  let best = rowStart[row]
  for (let entry = best + 1; entry < rowStart[row + 1]; entry++)
    if (timeUs[entry] < timeUs[best]) best = entry
  return best
}

function packed(
  source: MeasurementSource,
  settings: readonly TuningSetting[],
  rows: readonly { readonly call: TuningCall; readonly last: ReadonlyMap<number, Measurement> }[],
): MeasuredData {
  const entries = rows.flatMap(({ last }) => [...last].sort(([a], [b]) => a - b))
  const rowStart = new Int32Array(rows.length + 1)
  rows.forEach(({ last }, i) => {
    rowStart[i + 1] = rowStart[i] + last.size
  })
  return {
    source,
    calls: rows.map(({ call }) => call),
    settings,
    rowStart,
    setting: Int32Array.from(entries, ([setting]) => setting),
    timeUs: Float64Array.from(entries, ([, { timesUs }]) => medianTime(timesUs)),
    lowUs: Float64Array.from(entries, ([, { intervalUs }]) => intervalUs[0]),
    highUs: Float64Array.from(entries, ([, { intervalUs }]) => intervalUs[1]),
    barrierUs: Float64Array.from(entries, ([, { barrierUs = 0 }]) => barrierUs),
  }
}

function distinct<T, U>(values: readonly T[], key: (value: T) => string, to: (value: T) => U): U[] {
  return [...new Map(values.map((value) => [key(value), value])).values()].map(to)
}

function settingKey(setting: TuningSetting): string {
  return `${setting.collective} ${settingLine(setting)}`
}

function settingOf({ collective, algorithm, parameters }: Measurement): TuningSetting {
  return { collective, algorithm, parameters }
}

function callOf(measurement: Measurement): TuningCall {
  const { collective, nodes, processesPerNode, bytes, operation, order, isMemoryShared } = measurement
  return {
    ...{ collective, nodes, processesPerNode, bytes },
    ...(operation === undefined ? {} : { operation }),
    ...(order === undefined ? {} : { order }),
    ...(isMemoryShared === undefined ? {} : { isMemoryShared }),
  }
}

/** @throws ERR_MEASUREMENT for sources whose times are not compared */
export function requireSameSource(a: MeasurementSource, b: MeasurementSource): void {
  const text = ({ kind, name, machine }: MeasurementSource) => `${kind} '${name}' on '${machine}'`
  if (text(a) === text(b)) return
  const message = `expected measurements of one source, got ${text(a)} and ${text(b)}`
  throw new RankweaveError('ERR_MEASUREMENT', message)
}

/** @throws ERR_MEASUREMENT for reductions of different elements, whose times are not compared */
export function requireSameElements(measurements: readonly Measurement[]): void {
  const reductions = measurements.filter(({ collective }) => isReduction(collective))
  const [one, other] = new Set(reductions.map(({ elementType = 'float64' }) => elementType))
  if (other === undefined) return
  const message = `expected reductions of one type of elements, got ${one} and ${other}`
  throw new RankweaveError('ERR_MEASUREMENT', message)
}

/**
 * A function that chooses the setting of a call: an index into the settings that it was made for, or -1 for none. Pure:
 * equal calls get equal answers.
 */
export type SettingSelector = (call: TuningCall) => number

/** Selects the best setting of every measured call, of equal times the lowest setting; -1 for all others. */
export function exactSelector(data: MeasuredData): SettingSelector {
  const best = new Map(data.calls.map((call, row) => [callKey(call), data.setting[bestEntry(data, row)]]))
  return (call) => best.get(callKey(call)) ?? -1
}
