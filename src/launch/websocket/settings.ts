import {
  flagOption,
  integerOption,
  type OptionTable,
  objectOption,
  uncheckedOption,
  valueOption,
} from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { isRankweaveError, type RankweaveError, reasonText, wrongValue } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { machineOption } from '../../machine/machine-option.js'
import {
  type MatchingOptions,
  matchingOptions,
  refuseTrace,
} from '../../messages/process/matching-options.js'
import { maxWorldRanks, worldLayout } from '../../messages/process/world-layout.js'
import { defaultRendezvousLimits, type WorldLimits } from '../../websocket/protocol/limits.js'
import { type MachineSetting, machineOfSetting, machineSetting } from './machine-setting.js'

export { shortestSilenceMs } from '../../websocket/protocol/limits.js'
export type { ListenOptions } from '../../websocket/socket/socket.js'

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
  /** Whether every process retains the lines of calls, as of `run`. Default false. */
  readonly diagnose?: boolean
  /** The machine of the world, as of `run`, for all its processes. */
  readonly machine?: Machine
  /**
   * What is counted of message matching, and the design of its queues, as of `run`, in all its processes. Traces are
   * refused: ERR_ARGUMENT.
   */
  readonly matching?: MatchingOptions
}

/** What the opener of a world decides for all its processes. */
export type WorldSettings = Omit<RanksOptions, 'processes'>

/** The same in JSON, which leaves out what is not given. */
type SettingsText = Omit<WorldSettings, 'machine'> & { readonly machine?: MachineSetting }

/** The number of ranks is checked with their layout. */
export const ranksOptions: OptionTable<RanksOptions> = {
  ranks: uncheckedOption,
  processes: integerOption({ least: 1, most: defaultRendezvousLimits.maxProcesses, code: 'ERR_WORLD' }),
  ranksPerProcess: valueOption('an array', Array.isArray, { code: 'ERR_WORLD' }),
  eagerLimitBytes: integerOption({ least: 0 }),
  creditBytes: integerOption({ least: 0 }),
  diagnose: flagOption(),
  machine: machineOption,
  matching: objectOption(matchingOptions),
}

/**
 * What a rendezvous receives about a world: the text is what {@link parseSettings} reads.
 *
 * @param options checked by {@link ranksOptions}
 * @throws ERR_WORLD, ERR_MACHINE
 */
export function settingsOf(
  where: string,
  {
    processes: given,
    ranks,
    ranksPerProcess,
    eagerLimitBytes,
    creditBytes,
    diagnose,
    machine,
    matching,
  }: RanksOptions,
): { readonly processes: number; readonly settings: string } {
  const processes = given ?? ranksPerProcess?.length ?? ranks
  requireOption(where, 'processes', { ...ranksOptions.processes, required: true }, processes)
  refuseTrace(where, matching)
  // Checks the numbers.
  worldLayout(ranks, new Array<string>(processes).fill('any'), ranksPerProcess)
  const placed = machine && machineSetting(where, machine, ranks)
  // What is undefined is left out of the text.
  return {
    processes,
    settings: JSON.stringify({
      ...{ ranks, ranksPerProcess, eagerLimitBytes, creditBytes, diagnose, matching },
      machine: placed,
    }),
  }
}

/** Several heartbeats fit into the time of silence. */
export function silenceLimits(silenceMs: number): Pick<WorldLimits, 'silenceMs' | 'heartbeatMs'> {
  return { silenceMs, heartbeatMs: Math.max(10, Math.floor(silenceMs / 6)) }
}

/** @throws ERR_PROTOCOL unless it is the text of settings */
export function parseSettings(text: string): WorldSettings {
  const { machine, ...settings } = parsed(text)
  const { ranks, ranksPerProcess = [], eagerLimitBytes = 0, creditBytes = 0 } = settings
  if (!Array.isArray(ranksPerProcess)) throw notSettings(text)
  const counts = [ranks, eagerLimitBytes, creditBytes, ...ranksPerProcess]
  const areCounts = counts.every((count) => Number.isSafeInteger(count) && count >= 0)
  if (!areCounts || ranks < 1 || ranks > maxWorldRanks) throw notSettings(text)
  // The opener of a world must not make this process write files.
  const { trace, traceCollectives, traceOperations } = Object(settings.matching) as MatchingOptions
  if ([trace, traceCollectives, traceOperations].some((each) => each !== undefined)) throw notSettings(text)
  try {
    requireOption('settings', 'matching', ranksOptions.matching, settings.matching)
    if (machine === undefined) return settings
    return { ...settings, machine: machineOfSetting(machine, ranks) }
  } catch {
    throw notSettings(text)
  }
}

function parsed(text: string): SettingsText {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as SettingsText
  } catch {
    // Reported below.
  }
  throw notSettings(text)
}

function notSettings(text: string): RankweaveError {
  return wrongValue('ERR_PROTOCOL', 'expected the settings of a world', text)
}

/** What the rendezvous receives about the error of a world. */
export function failureText(error: unknown): string {
  if (isRankweaveError(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? `${error.name}: ${reasonText(error)}` : reasonText(error)
}
