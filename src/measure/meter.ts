import type { Collective } from '../schedule/specification.js'
import type { MeasurementSource } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, type TuningSetting } from '../tuning/settings/setting.js'
import type { TuningCall } from '../tuning/settings/tuning-call.js'

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
export interface RoundTimes {
  /** The times of the call and a dissemination barrier after it, in the process that took longest. */
  readonly callUs: readonly number[]
  /** The times of the barrier alone in the process that took longest, one for each repetition. */
  readonly barrierUs: readonly number[]
}

export function defaultSetting({ collective }: Pick<TuningCall, 'collective'>): TuningSetting {
  return { collective, algorithm: defaultAlgorithm, parameters: {} }
}
