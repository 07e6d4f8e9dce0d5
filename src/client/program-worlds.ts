import { RankweaveError, shown } from '../errors.js'
import type { MountedWorldInfo, MountedWorldRequest, OpenedWorld } from './protocol/mounted-worlds.js'

/** A world that waits for its processes, and the data with which they join it. */
export interface OpenedProgramWorld extends OpenedWorld {
  /** The address for `rankweave join`, or for `join` from code. */
  readonly joinUrl: string
}

/** Sends a request below `/v1/` and returns its answer. */
export type AskService = <T>(path: string, init?: RequestInit) => Promise<T>

const path = 'rendezvous/worlds'
const json = { 'content-type': 'application/json' }

/**
 * The worlds whose processes run programs of this library and meet at a service: `rankweave join`, or `join` from code,
 * brings each process into one. For worlds of members that ask, see `WorldMember`. Methods reject as those of
 * `ServiceClient`.
 */
export class ProgramWorlds {
  readonly #ask: AskService
  readonly #joinUrl: string

  /** @param base address of the service, up to `/v1/` */
  constructor(base: URL, ask: AskService) {
    this.#ask = ask
    const url = new URL('rendezvous', base)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    this.#joinUrl = url.href
  }

  /**
   * Opens a world, which waits for its processes until it is ended. Its token is shown here only, and any process that
   * has it can join.
   *
   * @throws ERR_BUSY for too many running worlds, ERR_LIMIT for too many ranks or processes, ERR_WORLD for numbers that
   *   do not agree, ERR_ARGUMENT
   */
  async open(request: MountedWorldRequest): Promise<OpenedProgramWorld> {
    const opened = await this.#ask<OpenedWorld>(path, {
      method: 'POST',
      body: JSON.stringify(request),
      headers: json,
    })
    return { ...opened, joinUrl: this.#joinUrl }
  }

  /** Lists the running worlds of this token, and the last that have ended. */
  async list(): Promise<readonly MountedWorldInfo[]> {
    return (await this.#ask<{ readonly worlds: readonly MountedWorldInfo[] }>(path)).worlds
  }

  /** @throws ERR_NOT_FOUND */
  async get(id: string): Promise<MountedWorldInfo> {
    return this.#ask<MountedWorldInfo>(`${path}/${idOf(id)}`)
  }

  /**
   * Ends a world for all its processes, which get ERR_WORLD_LOST; one that has ended stays unchanged.
   * @throws ERR_NOT_FOUND
   */
  async end(id: string): Promise<MountedWorldInfo> {
    return this.#ask<MountedWorldInfo>(`${path}/${idOf(id)}`, { method: 'DELETE' })
  }
}

/** @throws ERR_ARGUMENT for an id that would address something else */
function idOf(id: unknown): string {
  if (typeof id === 'string' && /^[0-9a-f]{16}$/.test(id)) return id
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `expected the id of a world of programs, 16 hexadecimal digits, got ${shown(id)}`,
  )
}
