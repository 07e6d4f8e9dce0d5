import { wrongValue } from '../../errors.js'
import { checkWorldMachine } from '../../machine/check-machine.js'
import { formatMachine } from '../../machine/format-machine.js'
import type { Machine } from '../../machine/machine.js'
import { parseMachine } from '../../machine/machine-text.js'
import { formatProfile, parseProfile } from '../../machine/profile-file.js'

/** A machine in the settings of a world, which are JSON. */
export interface MachineSetting {
  /** As `parseMachine` reads it. */
  readonly text: string
  /** What the file of its profile holds; null without one. */
  readonly profile: unknown
}

/** Of text and profile together: the settings of a world are at most 16,384. */
const mostCharacters = 12_288

/**
 * @param ranks of the world
 * @throws ERR_MACHINE for a machine that is not valid, has fewer cores than ranks, or takes more characters than the
 *   settings of a world have
 */
export function machineSetting(where: string, machine: Machine, ranks: number): MachineSetting {
  checkWorldMachine(machine, ranks)
  // Undefined in machines from JSON that leaves it out.
  const profile = machine.profile ?? null
  const setting = {
    text: formatMachine({ ...machine, profile }),
    profile: profile === null ? null : (JSON.parse(formatProfile(profile)) as unknown),
  }
  const characters = JSON.stringify(setting).length
  if (characters <= mostCharacters) return setting
  const expected = `${where}: expected a machine that takes at most ${mostCharacters} characters with its profile`
  throw wrongValue('ERR_MACHINE', expected, characters)
}

/** @throws ERR_MACHINE unless it is one that {@link machineSetting} has made */
export function machineOfSetting({ text, profile }: MachineSetting, ranks: number): Machine {
  const machine = parseMachine(
    text,
    profile === null ? {} : { profiles: [parseProfile(JSON.stringify(profile))] },
  )
  checkWorldMachine(machine, ranks)
  return machine
}
