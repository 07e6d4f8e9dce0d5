import { bytesOption } from '../base/option.js'
import { wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import type { MeasurementSource } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callLimits, type TuningCall } from '../tuning/settings/tuning-call.js'

/** A meter of calls from one source, each with the settings that serve it. */
export interface Meter {
  readonly source: MeasurementSource
  /** Whether times are computed. Then one repetition suffices, and nothing is verified. */
  readonly isComputed: boolean
  /** Returns the names of all algorithms that settings of a collective may have. */
  algorithms(collective: Collective): readonly string[]
  /** Returns the settings that serve a call, each once. */
  settings(call: TuningCall): readonly TuningSetting[]
  /** Makes the data and communicators that the settings of a call share. Calls follow each other. */
  begin(call: TuningCall, settings: readonly TuningSetting[]): Promise<void>
  /** Makes the call once by a setting and compares the result with the expected one. */
  verify(setting: TuningSetting): Promise<CallVerdict>
  /** Repeats the call by a setting. */
  time(setting: TuningSetting, repetitions: number): Promise<RoundTimes>
  /** Frees what `begin` has made. */
  end(): Promise<void>
}

/** The verdict on a call. `refused`: the setting cannot serve the call, which no process has begun. */
export type CallVerdict = 'right' | 'wrong' | 'refused'

/** The times in microseconds, by repetition. */
interface RoundTimes {
  /** The times of the call and a dissemination barrier after it, in the process that took longest. */
  readonly callUs: readonly number[]
  /** The times of the barrier alone in the process that took longest, one for each repetition. */
  readonly barrierUs: readonly number[]
}

export function defaultSetting({ collective }: Pick<TuningCall, 'collective'>): TuningSetting {
  return { collective, algorithm: defaultAlgorithm, parameters: {} }
}

/**
 * Returns a meter that measures some settings only. A text names an algorithm, with all values of its parameters, or
 * one setting.
 *
 * @param texts such as `bcast-chain` or `bcast-chain:fanout=4,segment=8KiB`; null for all settings
 */
export function restrictedTo(meter: Meter, texts: readonly string[] | null): Meter {
  if (texts === null) return meter
  const lines = texts.map(lineOf)
  return {
    ...meter,
    settings: (call) => meter.settings(call).filter((setting) => isNamed(setting, lines)),
  }
}

/**
 * Checks the restriction of a meter against the calls that are to be measured.
 *
 * @returns the texts of algorithms that serve none of the calls, if others do
 * @throws ERR_MEASUREMENT for a text that names no algorithm of these collectives, or a setting that is not measured at
 *   any of the calls, and if no text serves a call
 */
export function requireNamed(
  meter: Pick<Meter, 'algorithms' | 'settings'>,
  texts: readonly string[] | null,
  calls: readonly TuningCall[],
): readonly string[] {
  if (texts === null) return []
  const collectives = [...new Set(calls.map(({ collective }) => collective))]
  requireAlgorithms(meter.algorithms, texts, collectives)
  const settings = calls.flatMap((call) => meter.settings(call))
  const idle = texts.filter((text) => {
    const ofAlgorithm = settings.filter(({ algorithm }) => algorithm === algorithmOfText(text))
    if (ofAlgorithm.length > 0 && !ofAlgorithm.some((setting) => isNamed(setting, [lineOf(text)]))) {
      const lines = [...new Set(ofAlgorithm.map(settingLine))].join(', ')
      throw wrongValue('ERR_MEASUREMENT', `expected settings that are measured: ${lines}`, text)
    }
    return ofAlgorithm.length === 0
  })
  if (idle.length < texts.length) return idle
  const expected = 'expected algorithms that serve a call of the grid'
  throw wrongValue('ERR_MEASUREMENT', expected, idle.join(', '))
}

/** @throws ERR_MEASUREMENT for a text that names no algorithm of these collectives */
export function requireAlgorithms(
  algorithmsOf: Meter['algorithms'],
  texts: readonly string[],
  collectives: readonly Collective[],
): void {
  const known = new Map(collectives.map((collective) => [collective, algorithmsOf(collective)]))
  const isKnown = (name: string) => [...known.values()].some((names) => names.includes(name))
  const other = texts.find((text) => !isKnown(algorithmOfText(text)))
  if (other === undefined) return
  const names = [...known].map(([collective, algorithms]) => `of ${collective}: ${algorithms.join(', ')}`)
  throw wrongValue('ERR_MEASUREMENT', `expected algorithms ${names.join('; ')}`, other)
}

function algorithmOfText(text: string): string {
  return text.split(':', 1)[0]
}

const length = bytesOption({ least: 0, most: callLimits.bytes })

/** Returns a text as {@link settingLine} writes it. */
function lineOf(text: string): string {
  const colon = text.indexOf(':')
  if (colon < 0) return text
  const parameters = text.slice(colon + 1).split(',')
  const values = parameters.map((parameter) => {
    const [name, value = ''] = parameter.split('=', 2)
    return [name, length.parse(value) ?? value].join('=')
  })
  return `${text.slice(0, colon)}:${values.sort().join(',')}`
}

function isNamed(setting: TuningSetting, lines: readonly string[]): boolean {
  return lines.includes(setting.algorithm) || lines.includes(settingLine(setting))
}
