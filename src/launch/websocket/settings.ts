import { maxWorldRanks } from '../../comm/process/world-layout.js'
import { RankweaveError, shown } from '../../errors.js'
import type { WorldLimits } from '../../rendezvous/protocol/limits.js'

/** What whoever opens a world decides for all its processes. */
export interface WorldSettings {
  readonly ranks: number
  readonly ranksPerProcess?: readonly number[]
  readonly eagerLimitBytes?: number
  readonly creditBytes?: number
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
  const { ranks, ranksPerProcess, eagerLimitBytes = 0, creditBytes = 0 } = settings
  const counts = [ranks, eagerLimitBytes, creditBytes, ...(ranksPerProcess ?? [])]
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
