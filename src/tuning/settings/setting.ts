import type { Collective } from '../../schedule/specification.js'

/**
 * An algorithm with its parameters, as a measurement or a decision names it: a method, in the words of the source.
 *
 * @see Pjesivac-Grbovic 2007 §5.1
 */
export interface TuningSetting {
  readonly collective: Collective
  /** The registry's id (`bcast-chain`), or the name in an MPI library (`pipeline`). */
  readonly algorithm: string
  /**
   * The parameters by name, as in the line of text of an algorithm: `{ fanout: 4, segment: 1024 }`; `segment` is in
   * bytes, and absent if the data are not cut.
   */
  readonly parameters: Readonly<Record<string, number>>
}

/** The name of the setting in which nothing is chosen: the library's own behavior. */
export const defaultAlgorithm = 'default'

/**
 * Returns the line of text of a setting, parameters by name: `bcast-chain:fanout=4,segment=1024`. Equal settings of a
 * collective have equal texts, and `parseAlgorithm` reads those of the library's own algorithms.
 */
export function settingLine({ algorithm, parameters }: TuningSetting): string {
  const values = Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
  return values.length === 0 ? algorithm : `${algorithm}:${values.join(',')}`
}

/** Compares settings in total order: by collective, then by text. The lower one wins every tie. */
export function compareSettings(a: TuningSetting, b: TuningSetting): number {
  return compareWords(a.collective, b.collective) || compareWords(settingLine(a), settingLine(b))
}

/** Compares by code units, so alike on every machine. */
export function compareWords(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
