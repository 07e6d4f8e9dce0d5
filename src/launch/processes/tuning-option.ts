import { wrongValue } from '../../errors.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineMode } from '../../tuning/online/online-process.js'

/** A run whose calls `rankweave learn` learns from (docs/tuning-files.md#online-tuning). */
export interface OnlineRequest {
  /** The folder, made if it does not exist: the run reads `model.json` in it, and writes one file. */
  readonly online: string
  /** The mode: `tuning` tries settings, to learn from; `tuned` takes the best, to compare. Default `tuning`. */
  readonly mode?: OnlineMode
  /**
   * The number of calls of a rank that are chosen and recorded, 1 to 2^20. Default 1,000; afterwards the rule decides.
   */
  readonly calls?: number
  /** The number of processes that record, from process 0. Default: all. */
  readonly measured?: number
  /** The seed, 0 to 2^32 - 1. Default: drawn; the file has it. */
  readonly seed?: number
}

/**
 * A tuning file: its path or URL, or its content; null: none, even if the environment names one. `run` and `join` also
 * accept a folder of online tuning, as text `online:FOLDER` and `tuned:FOLDER`.
 */
export type TuningOption = string | URL | TuningFile | OnlineRequest | null

/** Returns the folder that an option, perhaps as a text, names. */
export function onlineRequestOf(given: TuningOption): OnlineRequest | undefined {
  if (typeof given === 'string') {
    const [, word, online] = /^(online|tuned):(.*)$/s.exec(given) ?? []
    return word === undefined ? undefined : { online, mode: word === 'tuned' ? 'tuned' : 'tuning' }
  }
  if (given === null || given instanceof URL || typeof given !== 'object') return undefined
  return 'online' in given ? given : undefined
}

/** @throws ERR_ARGUMENT for a folder where only files serve */
export function refuseOnline(where: string, given: TuningOption): string | URL | TuningFile | null {
  if (onlineRequestOf(given) === undefined) return given as string | URL | TuningFile | null
  throw wrongValue(
    'ERR_ARGUMENT',
    `${where}: expected a tuning file: only run and join take a folder of online tuning`,
    given,
  )
}

/** Returns the file that an option names, else the one of the environment variable RANKWEAVE_TUNING; null: none. */
export function tuningGiven(option: TuningOption | undefined): TuningOption {
  return option === undefined ? process.env['RANKWEAVE_TUNING'] || null : option
}

/**
 * Returns the tuning file of a world over WebSockets; undefined without one. @throws ERR_FILE, ERR_TUNING, ERR_ARGUMENT
 */
export async function requestedTuning(
  where: string,
  option: TuningOption | undefined,
): Promise<TuningFile | undefined> {
  const given = refuseOnline(where, tuningGiven(option))
  if (given === null) return undefined
  return (await import('./load-tuning.js')).loadTuning(where, given, 'websocket')
}
