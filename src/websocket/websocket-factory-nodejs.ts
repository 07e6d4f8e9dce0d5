import { hostname } from 'node:os'
import { requireEntries } from '../base/known-options.js'
import {
  integerOption,
  type OptionTable,
  uncheckedOption,
  uncheckedOptions,
  urlOption,
} from '../base/option.js'
import { checkOptions, givenOptions, requireOption } from '../base/option-table.js'
import { RankweaveError } from '../errors.js'
import type { FabricFactory } from '../fabric/fabric.js'
import { shortestSilenceMs } from './protocol/limits.js'

export interface WebSocketOptions {
  /** The number of processes of the operating system. Default: as many as `ranksPerProcess` has entries, else 2. */
  readonly processes?: number
  /** The ranks of every process, for `run`. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** The node label of every process. Default: the host's name for all. */
  readonly nodes?: readonly string[]
  /** The silence in milliseconds after which a process is lost. Default 30,000. */
  readonly silenceMs?: number
  /** The flags of Node for the processes. Default: those of this process. */
  readonly execArgv?: readonly string[]
  /** The library's entry of processes, if an application bundles it. Default: that of the installed package. */
  readonly processUrl?: URL
}

export interface WebSocketFactory extends FabricFactory {
  readonly kind: 'websocket'
  /** @internal */
  readonly options: Required<Pick<WebSocketOptions, 'processes' | 'nodes'>> &
    Pick<WebSocketOptions, 'silenceMs' | 'execArgv' | 'processUrl'>
}

const maxWebSocketProcesses = 256

const webSocketOptions = {
  processes: integerOption({ least: 1, most: maxWebSocketProcesses, code: 'ERR_WORLD' }),
  ...uncheckedOptions('ranksPerProcess', 'nodes'),
  silenceMs: integerOption({ least: shortestSilenceMs, most: 2 ** 31 - 1, code: 'ERR_WORLD' }),
  execArgv: uncheckedOption,
  processUrl: urlOption,
} satisfies OptionTable<WebSocketOptions>

/**
 * Returns a fabric of processes of the operating system on this host, connected by WebSockets over loopback. `run`
 * starts them, and each loads the program itself: hence it has to be a module. For processes on other hosts see `host`
 * and `join`.
 *
 * @throws ERR_WORLD for numbers that are out of range or do not agree; ERR_ARGUMENT for unknown options
 */
export function websocket(options: WebSocketOptions = {}): WebSocketFactory {
  checkOptions('websocket', webSocketOptions, options)
  const { ranksPerProcess, nodes, silenceMs, execArgv, processUrl } = options
  const processes = options.processes ?? ranksPerProcess?.length ?? nodes?.length ?? 2
  requireOption('websocket', 'processes', webSocketOptions.processes, processes)
  requireEntries('websocket', { ranksPerProcess, nodes }, processes)
  return {
    kind: 'websocket',
    processes,
    needsModule: true,
    ...givenOptions({ ranksPerProcess }),
    options: {
      processes,
      nodes: nodes ?? new Array<string>(processes).fill(hostname()),
      ...givenOptions({ silenceMs, execArgv, processUrl }),
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
