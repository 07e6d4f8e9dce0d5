import { fnvHash, type TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineOptions } from '../../tuning/online/online-process.js'
import { onlineRequestOf, requestedTuning, type TuningOption, tuningGiven } from './tuning-option.js'

/** The tuning with which a process joins a world. */
export interface JoinedTuning {
  readonly tuning?: TuningFile
  readonly online?: OnlineOptions
  /** The checksum of the part that all processes of the world have alike; undefined for one without tuning. */
  readonly checksum?: string
}

/** Returns the tuning of a process that joins. @throws ERR_FILE, ERR_TUNING, ERR_ARGUMENT */
export async function joinedTuning(option: TuningOption | undefined): Promise<JoinedTuning> {
  const request = onlineRequestOf(tuningGiven(option))
  if (request === undefined) {
    const tuning = await requestedTuning('join', option)
    return tuning === undefined ? {} : { tuning, checksum: tuning.checksum }
  }
  const { loadOnline, onlineChecksum } = await import('./load-online.js')
  const online = await loadOnline('join', request, 'websocket')
  // A given seed must be the same everywhere.
  return { online, checksum: onlineChecksum(online, request.seed) }
}

/**
 * Returns the options of online tuning in a world that has begun: all its processes draw alike, by its name, and fail
 * alike. Its machine has the node label of process 0.
 *
 * @throws ERR_TUNING for a model of another machine
 */
export async function onlineOfWorld(
  online: OnlineOptions,
  option: TuningOption | undefined,
  { world, nodes }: { readonly world: string; readonly nodes: readonly string[] },
): Promise<OnlineOptions> {
  const [machine] = nodes
  ;(await import('./load-online.js')).requireLearnedOn(online, machine)
  const source = { ...online.source, machine }
  if (onlineRequestOf(tuningGiven(option))?.seed !== undefined) return { ...online, source }
  return { ...online, source, seed: Number.parseInt(fnvHash(new TextEncoder().encode(world)).slice(8), 16) }
}
