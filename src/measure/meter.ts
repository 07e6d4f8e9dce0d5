import type { Collective } from '../schedule/specification.js'
import type { MeasurementSource } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, type TuningSetting } from '../tuning/settings/setting.js'
import type { TuningCall } from '../tuning/settings/tuning-call.js'

/** What measures: calls of one source, each with the settings that serve it. */
export interface Meter {
  readonly source: MeasurementSource
  /** Whether a time is computed: then one is all there is to know, and nothing is verified. */
  readonly isComputed: boolean
  /** Names of all algorithms that settings of a collective may have. */
  algorithms(collective: Collective): readonly string[]
  /** Those that serve a call, each once. */
  settings(call: TuningCall): readonly TuningSetting[]
  /** Makes what the settings of a call share, such as data and communicators. Calls follow each other. */
  begin(call: TuningCall, settings: readonly TuningSetting[]): Promise<void>
  /** Makes the call once by a setting and compares the result with what it must be. */
  verify(setting: TuningSetting): Promise<CallVerdict>
  /** Repeats the call by a setting. */
  time(setting: TuningSetting, repetitions: number): Promise<RoundTimes>
  /** Frees what `begin` has made. */
  end(): Promise<void>
}

/** `refused`: the setting cannot serve the call, which no process has begun. */
export type CallVerdict = 'right' | 'wrong' | 'refused'

/** Microseconds, by repetition. */
export interface RoundTimes {
  /** Of the call and a dissemination barrier after it, in the process that took longest. */
  readonly callUs: readonly number[]
  /** Of the barrier alone, likewise; of each repetition one. */
  readonly barrierUs: readonly number[]
}

export function defaultSetting({ collective }: Pick<TuningCall, 'collective'>): TuningSetting {
  return { collective, algorithm: defaultAlgorithm, parameters: {} }
}
