import { wrongValue } from '../../errors.js'
import { checkWorldMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { type Nodes, nodeRuns, nodesOf } from '../../machine/nodes.js'
import type { Profile } from '../../machine/profile.js'

type ProfileSetting = Omit<Profile, 'eagerLimitBytes'> & { readonly eagerLimitBytes: number | null }

/** A machine in the settings of a world, which are JSON. */
export type MachineSetting = Omit<Machine, keyof Nodes | 'profile'> & {
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
export function machineSetting(where: string, machine: Machine, ranks: number): MachineSetting {
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
export function machineOfSetting({ runs, profile, ...network }: MachineSetting, ranks: number): Machine {
  const machine = {
    ...network,
    ...nodesOf(runs.map(([nodes, ...packages]) => ({ nodes, packages }))),
    profile: profile && { ...profile, eagerLimitBytes: profile.eagerLimitBytes ?? Number.POSITIVE_INFINITY },
  } as Machine
  checkWorldMachine(machine, ranks)
  return machine
}
