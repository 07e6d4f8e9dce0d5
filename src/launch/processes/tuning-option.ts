import type { TuningFile } from '../../tuning/tuning-file.js'

/** A tuning file: its path or URL, or what it holds; null: none, also where the environment names one. */
export type TuningOption = string | URL | TuningFile | null

/** The file that an option names, else the one of the environment variable RANKWEAVE_TUNING; null: none. */
export function tuningGiven(option: TuningOption | undefined): TuningOption {
  return option === undefined ? process.env['RANKWEAVE_TUNING'] || null : option
}

/** The tuning file of a world over WebSockets; undefined without one. @throws ERR_FILE, ERR_TUNING, ERR_ARGUMENT */
export async function requestedTuning(
  where: string,
  option: TuningOption | undefined,
): Promise<TuningFile | undefined> {
  const given = tuningGiven(option)
  if (given === null) return undefined
  return (await import('./load-tuning.js')).loadTuning(where, given, 'websocket')
}
