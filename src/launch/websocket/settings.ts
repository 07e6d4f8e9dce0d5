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
import { type Machine, machineOption } from '../../machine/machine.js'
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

/** The number of ranks of a world, and their distribution over processes. */
export interface RanksOptions {
  /** The number of ranks of the world, 1 to 2^22. */
  readonly ranks: number
  /** The number of processes that are to join, 1 to 1,024. Default: one per rank. */
  readonly processes?: number
  /** The ranks of every process. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** The longest payload that is sent before its receive is posted, in bytes. Default: as of `run`. */
  readonly eagerLimitBytes?: number
  /** The most bytes that a process holds of each process that sends to it. Default: as of `run`. */
  readonly creditBytes?: number
  /** Whether every process retains the lines of calls, as of `run`. Default false. */
  readonly diagnose?: boolean
  /** The machine of the world, as of `run`, for all its processes. */
  readonly machine?: Machine
  /** The options of message matching, as of `run`, in all its processes. Traces are refused: ERR_ARGUMENT. */
  readonly matching?: MatchingOptions
}

/** The settings that the opener of a world decides for all its processes. */
export type WorldSettings = Omit<RanksOptions, 'processes'>

/** The settings in JSON, which omits undefined ones. */
type SettingsText = Omit<WorldSettings, 'machine'> & { readonly machine?: MachineSetting }

/** The table of options; the number of ranks is checked with their layout. */
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
 * Returns the options of a world for a rendezvous, with the text that {@link parseSettings} reads.
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
  // The layout is made only to check the numbers.
  worldLayout(ranks, new Array<string>(processes).fill('any'), ranksPerProcess)
  const placed = machine && machineSetting(where, machine, ranks)
  // JSON omits undefined values.
  return {
    processes,
    settings: JSON.stringify({
      ...{ ranks, ranksPerProcess, eagerLimitBytes, creditBytes, diagnose, matching },
      machine: placed,
    }),
  }
}

/** Returns limits in which several heartbeats fit into the time of silence. */
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
    // The error below reports it.
  }
  throw notSettings(text)
}

function notSettings(text: string): RankweaveError {
  return wrongValue('ERR_PROTOCOL', 'expected the settings of a world', text)
}

/** Returns the text that the rendezvous receives about the error of a world. */
export function failureText(error: unknown): string {
  if (isRankweaveError(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? `${error.name}: ${reasonText(error)}` : reasonText(error)
}
