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
import { checkWorldMachine } from '../../machine/check-machine.js'
import { type Machine, machineOption } from '../../machine/machine.js'
import { type Nodes, nodeRuns, nodesOf } from '../../machine/nodes.js'
import type { Profile } from '../../machine/profile.js'
import {
  type MatchingOptions,
  matchingOptions,
  refuseTrace,
} from '../../messages/process/matching-options.js'
import { maxWorldRanks, worldLayout } from '../../messages/process/world-layout.js'
import { defaultRendezvousLimits, type WorldLimits } from '../../websocket/protocol/limits.js'

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

type ProfileSetting = Omit<Profile, 'eagerLimitBytes'> & { readonly eagerLimitBytes: number | null }

/** A machine in the settings of a world, which are JSON. */
type MachineSetting = Omit<Machine, keyof Nodes | 'profile'> & {
  /** The runs of equal nodes: how many, and the cores of each one's packages. */
  readonly runs: readonly (readonly number[])[]
  /** The profile, with null for an infinite eager limit. */
  readonly profile: ProfileSetting | null
}

/** The most characters of a machine; the settings of a world are at most 16,384. */
const mostCharacters = 12_288

/**
 * @param ranks of the world
 * @throws ERR_MACHINE for a machine that is not valid, has fewer cores than ranks, has nodes without cores, or takes
 *   more characters than the settings of a world have
 */
function machineSetting(where: string, machine: Machine, ranks: number): MachineSetting {
  checkWorldMachine(machine, ranks)
  const { cores: _cores, firstRank: _first, packageFirstRank: _packages, profile, ...network } = machine
  const setting = {
    ...network,
    runs: nodeRuns(machine).map(({ nodes, packages }) => [nodes, ...packages]),
    // The profile is undefined in machines from JSON that omits it.
    profile: profile ? profileSetting(profile) : null,
  }
  machineOfSetting(setting, ranks)
  const characters = JSON.stringify(setting).length
  if (characters <= mostCharacters) return setting
  const expected = `${where}: expected a machine that takes at most ${mostCharacters} characters with its profile`
  throw wrongValue('ERR_MACHINE', expected, characters)
}

function profileSetting({ eagerLimitBytes, ...profile }: Profile): ProfileSetting {
  return { ...profile, eagerLimitBytes: Number.isFinite(eagerLimitBytes) ? eagerLimitBytes : null }
}

/** @throws ERR_MACHINE or an error of JavaScript, unless it is one that {@link machineSetting} has made */
function machineOfSetting({ runs, profile, ...network }: MachineSetting, ranks: number): Machine {
  const machine = {
    ...network,
    ...nodesOf(runs.map(([nodes, ...packages]) => ({ nodes, packages }))),
    profile: profile && { ...profile, eagerLimitBytes: profile.eagerLimitBytes ?? Number.POSITIVE_INFINITY },
  } as Machine
  checkWorldMachine(machine, ranks)
  return machine
}
