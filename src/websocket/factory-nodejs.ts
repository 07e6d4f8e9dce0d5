import { hostname } from 'node:os'
import { requireKnownOptions } from '../base/known-options.js'
import { RankweaveError, shown } from '../errors.js'
import type { FabricFactory } from '../fabric/fabric.js'
import { shortestSilenceMs } from './protocol/limits.js'

export interface WebSocketOptions {
  /** Processes of the operating system. Default: as many as `ranksPerProcess` has entries, else 2. */
  readonly processes?: number
  /** For `run`: ranks of every process. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** Node label of every process. Default: the host's name for all. */
  readonly nodes?: readonly string[]
  /** Milliseconds of silence after which a process is lost. Default 30,000. */
  readonly silenceMs?: number
  /** Flags of Node for the processes. Default: those of this process. */
  readonly execArgv?: readonly string[]
  /**
   * The library's entry of processes, where an application bundles it. Default: that of the installed
   * package.
   */
  readonly processUrl?: URL
}

export interface WebSocketFactory extends FabricFactory {
  readonly kind: 'websocket'
  /** @internal */
  readonly options: Required<Pick<WebSocketOptions, 'processes' | 'nodes'>> &
    Pick<WebSocketOptions, 'silenceMs' | 'execArgv' | 'processUrl'>
}

export const maxWebSocketProcesses = 256

/**
 * Processes of the operating system on this host, connected by WebSockets over loopback. `run` starts them,
 * and each loads the program for itself: hence it has to be a module. For processes on other hosts see `host`
 * and `join`.
 *
 * @throws ERR_WORLD for numbers that are out of range or do not agree; ERR_ARGUMENT for unknown options
 */
export function websocket(options: WebSocketOptions = {}): WebSocketFactory {
  requireKnownOptions('websocket', options, optionNames)
  const { ranksPerProcess, nodes, silenceMs, execArgv, processUrl } = options
  const processes = options.processes ?? ranksPerProcess?.length ?? nodes?.length ?? 2
  requireNumber('processes', processes, 1, maxWebSocketProcesses)
  if (silenceMs !== undefined) requireNumber('silenceMs', silenceMs, shortestSilenceMs, 2 ** 31 - 1)
  requireEntries('ranksPerProcess', ranksPerProcess, processes)
  requireEntries('node labels', nodes, processes)
  if (processUrl !== undefined && !(processUrl instanceof URL)) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `websocket: expected a URL as processUrl, got ${shown(processUrl)}`,
    )
  }
  return {
    kind: 'websocket',
    processes,
    needsModule: true,
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    options: {
      processes,
      nodes: nodes ?? new Array<string>(processes).fill(hostname()),
      ...(silenceMs === undefined ? {} : { silenceMs }),
      ...(execArgv === undefined ? {} : { execArgv }),
      ...(processUrl === undefined ? {} : { processUrl }),
    },
    open: () =>
      Promise.reject(
        new RankweaveError(
          'ERR_FABRIC',
          'websocket: a session lives in its own process; `run` starts the processes, given the URL of a program',
        ),
      ),
  }
}

const optionNames: Readonly<Record<keyof WebSocketOptions, true>> = {
  processes: true,
  ranksPerProcess: true,
  nodes: true,
  silenceMs: true,
  execArgv: true,
  processUrl: true,
}

function requireNumber(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return
  throw new RankweaveError(
    'ERR_WORLD',
    `websocket: ${name} must be an integer in ${least}..${most}, got ${String(value)}`,
  )
}

function requireEntries(what: string, list: readonly unknown[] | undefined, processes: number): void {
  if (list === undefined || list.length === processes) return
  throw new RankweaveError(
    'ERR_WORLD',
    `websocket: expected ${processes} ${what}, one per process, got ${list.length}`,
  )
}
