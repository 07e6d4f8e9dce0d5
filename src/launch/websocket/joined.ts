import {
  type OptionTable,
  signalOption,
  textOption,
  uncheckedOption,
  uncheckedOptions,
} from '../../base/option.js'
import { worldLayout } from '../../messages/process/world-layout.js'
import type { Membership } from '../../websocket/rendezvous/join-world.js'
import { endGraceMs } from '../processes/process-protocol.js'
import type { WorldSettings } from './settings.js'

// This module is common to a process of Node and a page of a browser, so it uses no module of Node.

/** The options with which a process, on Node or in a page, joins a world that `host` or a server has opened. */
export interface JoinOptions<A = unknown> {
  /** The URL of the rendezvous, as its host shows it: `ws:`, or `wss:`, which pages that were loaded by TLS need. */
  readonly url: string
  readonly token: string
  /**
   * The text that the processes of the world compare to find out that they run the same program. Default: the SHA-256
   * of the program's file, in hexadecimal digits. It is needed if the program is given as a function.
   */
  readonly program?: string
  /** The value passed to the `main` of every rank of this process. */
  readonly args?: A
  /** The node label. Default: the host's name; for a page one that no other process has. */
  readonly node?: string
  /** The number to ask for. Default: by order of joining. */
  readonly process?: number
  /** The signal that ends the world. */
  readonly signal?: AbortSignal
  /** Called once when this process has been accepted: processes so far, and of the complete world. */
  readonly onWaiting?: (joined: number, processes: number) => void
}

export const memberOptions: OptionTable<JoinOptions> = {
  url: textOption({ required: true }),
  token: textOption({ required: true }),
  program: textOption(),
  ...uncheckedOptions('args', 'node', 'process'),
  signal: signalOption,
  onWaiting: uncheckedOption,
}

/** The outcome of this process's part of a world that has ended. */
export interface Joined<T> {
  readonly ranks: number
  readonly process: number
  readonly processes: number
  /** The first rank of this process; the others follow. */
  readonly firstRank: number
  /** The values that the ranks of this process returned, in rank order. */
  readonly results: readonly T[]
}

/**
 * Runs the part of a world that has these settings.
 *
 * @param host runs the ranks of this process, and calls back when the world has failed
 * @throws ERR_WORLD for settings that do not fit the processes; what `host` throws
 */
export async function hostJoined<T>(
  { process, processes, nodes }: Pick<Membership, 'process' | 'processes' | 'nodes'>,
  { ranks, ranksPerProcess }: WorldSettings,
  host: (onFailed: (error: unknown) => void) => Promise<readonly T[]>,
): Promise<Joined<T>> {
  const { firstRank } = worldLayout(ranks, nodes, ranksPerProcess)
  const results = await endedInTime(host)
  return { ranks, process, processes, firstRank: firstRank[process], results }
}

/**
 * Awaits the end of a world, but of a failed one only for a limited time: another process may compute without end, and
 * take no part in it.
 */
async function endedInTime<T>(host: (onFailed: (error: unknown) => void) => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise((resolve, reject) => {
      host((error) => {
        timer ??= setTimeout(reject, endGraceMs, error)
      }).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
  }
}

/** The timers when this module is loaded: a test that replaces the timers of its program does not stop the library. */
const { setTimeout, clearTimeout } = globalThis
