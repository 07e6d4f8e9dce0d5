import { hostname } from 'node:os'
import { join } from 'node:path'
import { integerOption, type OptionTable, uncheckedOption, wordOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { makeWritableDirectory, readRegularFileIfThere } from '../../text/whole-file.js'
import type { MeasurementSource } from '../../tuning/measured/measurement.js'
import { readTuningFile, requireOwnSource, tuningFileLimits } from '../../tuning/models/read-tuning-file.js'
import { fnvHash, isGrid, type TuningFile } from '../../tuning/models/tuning-file.js'
import {
  type OnlineOptions,
  onlineCollectives,
  onlineLimits,
  onlineModes,
  onlineSegments,
} from '../../tuning/online/online-process.js'
import { ownSettingTable } from '../../tuning/settings/own-settings.js'
import { NumberedSettings, type TuningSetting } from '../../tuning/settings/setting.js'
import type { OnlineRequest } from './tuning-option.js'

export const modelFileName = 'model.json'

const requestOptions: OptionTable<OnlineRequest> = {
  online: uncheckedOption,
  mode: wordOption(onlineModes, { default: 'tuning' }),
  calls: integerOption({ least: 1, most: onlineLimits.calls }),
  measured: integerOption({ least: 1, most: 2 ** 22 }),
  seed: integerOption({ least: 0, most: 2 ** 32 - 1 }),
}

/** Returns the source of measurements that run on a fabric of this machine. */
function onlineSource(fabric: string): MeasurementSource {
  return { kind: 'rankweave', name: fabric, machine: hostname() || 'unnamed' }
}

/**
 * Loads the options of a run that tunes its calls: the model of its folder, if there is one, and the settings it may
 * choose.
 *
 * @param fabric of the world
 * @throws ERR_ARGUMENT for options; ERR_FILE for a folder that cannot be made and a model that cannot be read;
 *   ERR_TUNING for a model that is damaged, of another fabric or of simulated runs
 */
export async function loadOnline(
  where: string,
  request: OnlineRequest,
  fabric: string,
): Promise<OnlineOptions> {
  checkOptions(`${where}, tuning`, requestOptions, request)
  const { online: folder, mode = 'tuning', calls = onlineLimits.defaultCalls, measured = 2 ** 22 } = request
  if (typeof folder !== 'string' || folder === '')
    throw wrongValue('ERR_ARGUMENT', `${where}: expected the name of a folder, as in online:runs`, folder)
  const directory = makeWritableDirectory(folder)
  const path = join(directory, modelFileName)
  const model = modelOf(where, path, fabric)
  const { seed = crypto.getRandomValues(new Uint32Array(1))[0] } = request
  const learned = Object.values(model?.decisions ?? {}).flatMap((each) => (isGrid(each) ? each.settings : []))
  const settings = merged(learned, ownSettingTable(onlineCollectives, onlineSegments))
  const told = { source: onlineSource(fabric), folder: directory }
  return { mode, seed, calls, measured, settings, ...told, ...(model === undefined ? {} : { model }) }
}

/**
 * Returns the model, if there is one. The next `rankweave learn` would refuse a mixture, so a run accepts only a model
 * of the same kind of runs.
 */
function modelOf(where: string, path: string, fabric: string): TuningFile | undefined {
  const bytes = readRegularFileIfThere(path, tuningFileLimits.bytes)
  if (bytes === undefined) return undefined
  const model = readTuningFile(bytes.toString(), `tuning file '${path}'`)
  requireOwnSource(where, model, fabric)
  const { kind, name, machine } = model.source
  if (kind === 'rankweave') return model
  const message = `${path}: expected a model of runs on fabric ${fabric}, got one of the ${kind}, '${name}' on '${machine}'`
  throw new RankweaveError(
    'ERR_TUNING',
    `${message}: use another folder, or the file itself, which records nothing`,
  )
}

/**
 * Checks that a model is of the machine of rank 0, which writes the files of runs.
 *
 * @param machine of rank 0
 * @throws ERR_TUNING for a model of another one
 */
export function requireLearnedOn({ folder, model }: OnlineOptions, machine: string): void {
  if (model === undefined || model.source.machine === machine) return
  const path = join(folder, modelFileName)
  const message = `${path}: expected a model of machine '${machine}', got one of '${model.source.machine}': use another folder`
  throw new RankweaveError('ERR_TUNING', message)
}

/** Loads the options for processes of this host, which have read one folder. */
export async function loadOnlineHere(
  where: string,
  request: OnlineRequest,
  fabric: string,
): Promise<OnlineOptions> {
  const online = await loadOnline(where, request, fabric)
  requireLearnedOn(online, online.source.machine)
  return online
}

/**
 * Returns a checksum, in 16 characters, of the options that all processes of a world must have alike.
 *
 * @param seed one that all must have; without it, they derive theirs from common knowledge
 */
export function onlineChecksum({ mode, calls, measured, model }: OnlineOptions, seed?: number): string {
  const text = `online ${mode} ${calls} ${measured} ${model?.checksum ?? ''} ${seed ?? ''}`
  return fnvHash(new TextEncoder().encode(text))
}

/** Merges settings: those of the model keep their numbers, and those that it lacks follow. */
function merged(learned: readonly TuningSetting[], own: readonly TuningSetting[]): TuningSetting[] {
  const known = new NumberedSettings(learned)
  return [...learned, ...own.filter((setting) => known.numberOf(setting) === 0)]
}
