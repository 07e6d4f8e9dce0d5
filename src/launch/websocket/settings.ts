import { isCount } from '../../base/known-options.js'
import { isRankweaveError, RankweaveError, reasonText, shown } from '../../errors.js'
import { maxWorldRanks, worldLayout } from '../../messages/process/world-layout.js'
import { defaultRendezvousLimits, type WorldLimits } from '../../websocket/protocol/limits.js'

export { shortestSilenceMs } from '../../websocket/protocol/limits.js'

/** What the opener of a world decides for all its processes. */
export interface WorldSettings {
  readonly ranks: number
  readonly ranksPerProcess?: readonly number[]
  readonly eagerLimitBytes?: number
  readonly creditBytes?: number
}

/** How many ranks a world has, and where. */
export interface RanksOptions {
  /** Ranks of the world, 1 to 2^22. */
  readonly ranks: number
  /** Processes that are to join, 1 to 1,024. Default: one per rank. */
  readonly processes?: number
  /** Ranks of every process. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** Longest payload that is sent before its receive is posted, in bytes. Default: as of `run`. */
  readonly eagerLimitBytes?: number
  /** What a process holds at most of each process that sends to it, in bytes. Default: as of `run`. */
  readonly creditBytes?: number
}

/**
 * What a rendezvous receives about a world: the text is what {@link parseSettings} reads.
 * @throws ERR_WORLD, ERR_ARGUMENT
 */
export function settingsOf(
  where: string,
  { ranks, ranksPerProcess, eagerLimitBytes, creditBytes, ...options }: RanksOptions,
): { readonly processes: number; readonly settings: string } {
  if (ranksPerProcess !== undefined && !Array.isArray(ranksPerProcess)) {
    throw new RankweaveError(
      'ERR_WORLD',
      `${where}: expected an array as ranksPerProcess, got ${shown(ranksPerProcess)}`,
    )
  }
  const { maxProcesses } = defaultRendezvousLimits
  const processes = options.processes ?? ranksPerProcess?.length ?? ranks
  if (!Number.isSafeInteger(processes) || processes < 1 || processes > maxProcesses) {
    throw new RankweaveError(
      'ERR_WORLD',
      `${where}: expected 1 to ${maxProcesses} processes, got ${shown(processes)}`,
    )
  }
  for (const [name, bytes] of Object.entries({ eagerLimitBytes, creditBytes })) {
    if (bytes === undefined || isCount(bytes)) continue
    throw new RankweaveError('ERR_ARGUMENT', `${where}: expected ${name} from 0, got ${shown(bytes)}`)
  }
  // Checks the numbers.
  worldLayout(ranks, new Array<string>(processes).fill('any'), ranksPerProcess)
  const settings: WorldSettings = {
    ranks,
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    ...(eagerLimitBytes === undefined ? {} : { eagerLimitBytes }),
    ...(creditBytes === undefined ? {} : { creditBytes }),
  }
  return { processes, settings: JSON.stringify(settings) }
}

/** Where to accept connections. */
export interface ListenOptions {
  /** Address to listen on. Default `127.0.0.1`: this host only. */
  readonly host?: string
  /** Port to listen on. Default 0: any that is free. */
  readonly port?: number
  /** Host in the URL that others dial. Default: `host`. */
  readonly advertisedHost?: string
  /** Certificate and key in PEM: TLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

/** Several heartbeats fit into the time of silence. */
export function silenceLimits(silenceMs: number): Pick<WorldLimits, 'silenceMs' | 'heartbeatMs'> {
  return { silenceMs, heartbeatMs: Math.max(10, Math.floor(silenceMs / 6)) }
}

/** @throws ERR_PROTOCOL unless it is the text of settings */
export function parseSettings(text: string): WorldSettings {
  const settings = parsed(text)
  const { ranks, ranksPerProcess = [], eagerLimitBytes = 0, creditBytes = 0 } = settings
  if (!Array.isArray(ranksPerProcess)) throw notSettings(text)
  const counts = [ranks, eagerLimitBytes, creditBytes, ...ranksPerProcess]
  const areCounts = counts.every((count) => Number.isSafeInteger(count) && count >= 0)
  if (areCounts && ranks >= 1 && ranks <= maxWorldRanks) return settings
  throw notSettings(text)
}

function parsed(text: string): WorldSettings {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as WorldSettings
  } catch {
    // Reported below.
  }
  throw notSettings(text)
}

function notSettings(text: string): RankweaveError {
  return new RankweaveError('ERR_PROTOCOL', `expected the settings of a world, got ${shown(text)}`)
}

/** What the rendezvous receives about the error of a world. */
export function failureText(error: unknown): string {
  if (isRankweaveError(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? `${error.name}: ${reasonText(error)}` : reasonText(error)
}
