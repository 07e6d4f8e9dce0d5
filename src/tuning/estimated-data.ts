import { addToList } from '../base/maps.js'
import { largestOf, quantile, smallestOf } from '../base/search.js'
import { entryOf, type MeasuredData } from './measured-data.js'
import type { Predictor } from './predictors.js'
import { registryText } from './registry-text.js'
import { callKey, callKind, compareCalls, type TuningCall } from './tuning-call.js'

/** Measured times with estimates where there are none. */
export interface EstimatedData {
  readonly data: MeasuredData
  /** By entry: 0 measured, 1 interpolated, 2 by the model. Length: entries. */
  readonly origin: Uint8Array
}

interface Estimate {
  readonly setting: number
  readonly timeUs: number
  readonly lowUs: number
  readonly highUs: number
  readonly origin: number
}

/**
 * Few measurements as more of them: the time of a setting that was not measured at a call is interpolated between the
 * nearest fewer and more bytes on the same nodes, as a line in the logarithms of bytes and time; otherwise it is what a
 * model predicts, times the median of measured / predicted of that setting at all calls of the kind. Where neither is
 * there, none is made up: a setting that cannot serve a number of processes has no time.
 *
 * Intervals of interpolated times are interpolated; those by a model span the least and the greatest ratio.
 *
 * @param predictor null: interpolation alone
 * @param calls at which times are wanted besides those measured. Default: none. Calls without any time are left out.
 * @see Pjesivac-Grbovic 2007 §5.1, equation 5.5
 */
export function estimatedData(
  data: MeasuredData,
  predictor: Predictor | null,
  calls: readonly TuningCall[] = [],
): EstimatedData {
  const wanted = new Map([...data.calls, ...calls].map((call) => [callKey(call), call]))
  const rowOf = new Map(data.calls.map((call, row) => [callKey(call), row]))
  const estimator = new Estimator(data, predictor)
  const rows = [...wanted]
    .sort(([, a], [, b]) => compareCalls(a, b))
    .flatMap(([key, call]) => {
      const entries = data.settings.flatMap((setting, index) =>
        setting.collective === call.collective ? estimator.at(call, rowOf.get(key), index) : [],
      )
      return entries.length === 0 ? [] : [{ call, entries }]
    })
  const entries = rows.flatMap((row) => row.entries)
  const rowStart = new Int32Array(rows.length + 1)
  rows.forEach((row, i) => {
    rowStart[i + 1] = rowStart[i] + row.entries.length
  })
  return {
    data: {
      ...data,
      calls: rows.map(({ call }) => call),
      rowStart,
      setting: Int32Array.from(entries, ({ setting }) => setting),
      timeUs: Float64Array.from(entries, ({ timeUs }) => timeUs),
      lowUs: Float64Array.from(entries, ({ lowUs }) => lowUs),
      highUs: Float64Array.from(entries, ({ highUs }) => highUs),
    },
    origin: Uint8Array.from(entries, ({ origin }) => origin),
  }
}

class Estimator {
  readonly #data: MeasuredData
  readonly #predictor: Predictor | null
  readonly #texts: readonly (string | null)[]
  /** Rows by kind and spread over nodes, each list by ascending bytes. */
  readonly #series = new Map<string, number[]>()
  readonly #rowsOfKind = new Map<string, number[]>()
  readonly #ratios = new Map<string, readonly number[]>()

  constructor(data: MeasuredData, predictor: Predictor | null) {
    this.#data = data
    this.#predictor = predictor
    this.#texts = data.settings.map((setting) => registryText(setting, data.source))
    data.calls.forEach((call, row) => {
      for (const [groups, key] of [
        [this.#series, seriesKey(call)],
        [this.#rowsOfKind, callKind(call)],
      ] as const)
        addToList(groups, key, row)
    })
  }

  at(call: TuningCall, row: number | undefined, setting: number): readonly Estimate[] {
    const { timeUs, lowUs, highUs } = this.#data
    const entry = row === undefined ? -1 : entryOf(this.#data, row, setting)
    if (entry >= 0)
      return [{ setting, timeUs: timeUs[entry], lowUs: lowUs[entry], highUs: highUs[entry], origin: 0 }]
    const estimate = this.#between(call, setting) ?? this.#modelled(call, setting)
    return estimate === null ? [] : [estimate]
  }

  #between(call: TuningCall, setting: number): Estimate | null {
    const { calls, timeUs, lowUs, highUs } = this.#data
    const measured = (this.#series.get(seriesKey(call)) ?? []).flatMap((row) => {
      const entry = entryOf(this.#data, row, setting)
      return entry < 0 ? [] : [{ bytes: calls[row].bytes, entry }]
    })
    const below = measured.findLast(({ bytes }) => bytes < call.bytes)
    const above = measured.find(({ bytes }) => bytes > call.bytes)
    if (below === undefined || above === undefined) return null
    // An empty message counts as one of a byte.
    const log = (bytes: number) => Math.log(Math.max(1, bytes))
    const width = log(above.bytes) - log(below.bytes)
    const share = width === 0 ? 0 : (log(call.bytes) - log(below.bytes)) / width
    const of = (values: Float64Array) => values[below.entry] ** (1 - share) * values[above.entry] ** share
    return { setting, timeUs: of(timeUs), lowUs: of(lowUs), highUs: of(highUs), origin: 1 }
  }

  #modelled(call: TuningCall, setting: number): Estimate | null {
    const ratios = this.#ratiosOf(callKind(call), setting)
    const predicted = this.#predicted(call, setting)
    if (predicted === null || ratios.length === 0) return null
    return {
      ...{ setting, timeUs: predicted * quantile(ratios, 0.5), origin: 2 },
      ...{ lowUs: predicted * smallestOf(ratios), highUs: predicted * largestOf(ratios) },
    }
  }

  /** Of measured / predicted, ascending. */
  #ratiosOf(kind: string, setting: number): readonly number[] {
    const key = `${kind} ${setting}`
    const known = this.#ratios.get(key)
    if (known !== undefined) return known
    const { calls, timeUs } = this.#data
    const ratios = (this.#rowsOfKind.get(kind) ?? []).flatMap((row) => {
      const entry = entryOf(this.#data, row, setting)
      const predicted = entry < 0 ? null : this.#predicted(calls[row], setting)
      return predicted === null ? [] : [timeUs[entry] / predicted]
    })
    ratios.sort((a, b) => a - b)
    this.#ratios.set(key, ratios)
    return ratios
  }

  /** Above 0, or null. */
  #predicted(call: TuningCall, setting: number): number | null {
    const text = this.#texts[setting]
    const timeUs = text === null ? null : (this.#predictor?.timeUs(text, call) ?? null)
    return timeUs === null || timeUs <= 0 ? null : timeUs
  }
}

function seriesKey(call: TuningCall): string {
  return `${callKind(call)} ${call.nodes} ${call.processesPerNode}`
}
