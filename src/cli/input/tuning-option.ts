import type { Command } from 'commander'
import * as z from 'zod'
import { loadOnline, loadOnlineHere } from '../../launch/processes/load-online.js'
import { loadTuning } from '../../launch/processes/load-tuning.js'
import {
  type OnlineRequest,
  onlineRequestOf,
  refuseOnline,
  tuningGiven,
} from '../../launch/processes/tuning-option.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'

/** Adds the option of every subcommand that runs a world whose collectives the user tunes. */
export function addTuningOption(command: Command): Command {
  return command.option(
    '--tuning <file>',
    'file of rankweave tune that chooses the algorithms of collectives; of run and join also online:FOLDER and tuned:FOLDER (default: RANKWEAVE_TUNING)',
  )
}

export const tuningSchema = { tuning: z.string().optional() }

/** Returns the tuning file of a world, read before it starts; null without one. @throws ERR_FILE, ERR_TUNING */
export async function tuningOf(
  { tuning }: { readonly tuning?: string | undefined },
  fabric: string,
): Promise<TuningFile | null> {
  const where = tuning === undefined ? 'RANKWEAVE_TUNING' : '--tuning'
  const given = refuseOnline(where, tuningGiven(tuning))
  return given === null ? null : loadTuning(where, given, fabric)
}

/**
 * Returns the tuning of a run or of a process that joins, which may tune online.
 *
 * @param mayBeElsewhere whether rank 0, whose machine a model must be of, may run on another host
 */
export async function tuningOfRun(
  options: { readonly tuning?: string | undefined },
  fabric: string,
  mayBeElsewhere = false,
): Promise<TuningFile | OnlineRequest | null> {
  const request = onlineRequestOf(tuningGiven(options.tuning))
  if (request === undefined) return tuningOf(options, fabric)
  // An error in the folder is one of the command, not of the program.
  const load = mayBeElsewhere ? loadOnline : loadOnlineHere
  await load(options.tuning === undefined ? 'RANKWEAVE_TUNING' : '--tuning', request, fabric)
  return request
}
