import { wrongValue } from '../../errors.js'
import type { SettingSelector } from './selector.js'

/** A model that chooses settings, and how much its vote weighs. */
export interface Voter {
  readonly select: SettingSelector
  /** Above 0. Default 1. */
  readonly weight?: number
}

/**
 * The setting with most votes, each model having one. Of settings with equally many, that with the greatest weight,
 * then that of the earliest voter. Models without a choice abstain.
 *
 * @throws ERR_ARGUMENT for no voters and weights that are not above 0
 * @see Pjesivac-Grbovic 2007 §5.2.3
 */
export function majorityVote(voters: readonly Voter[]): SettingSelector {
  requireVoters(voters)
  return (call) =>
    winner(voters, call, ({ votes, weight }, best) => votes - best.votes || weight - best.weight)
}

/** The setting whose votes weigh most, of equal ones that of the earliest voter. Throws alike. */
export function weightedVote(voters: readonly Voter[]): SettingSelector {
  requireVoters(voters)
  return (call) => winner(voters, call, ({ weight }, best) => weight - best.weight)
}

interface Tally {
  readonly votes: number
  readonly weight: number
}

function winner(
  voters: readonly Voter[],
  call: Parameters<SettingSelector>[0],
  compare: (tally: Tally, best: Tally) => number,
): number {
  const tallies = new Map<number, Tally>()
  for (const { select, weight = 1 } of voters) {
    const setting = select(call)
    const tally = tallies.get(setting) ?? { votes: 0, weight: 0 }
    if (setting >= 0) tallies.set(setting, { votes: tally.votes + 1, weight: tally.weight + weight })
  }
  let [chosen, best]: [number, Tally] = [-1, { votes: 0, weight: 0 }]
  for (const [setting, tally] of tallies) if (compare(tally, best) > 0) [chosen, best] = [setting, tally]
  return chosen
}

function requireVoters(voters: readonly Voter[]): void {
  if (voters.length === 0) throw wrongValue('ERR_ARGUMENT', 'expected voters', 'none')
  for (const { weight = 1 } of voters)
    if (!(Number.isFinite(weight) && weight > 0))
      throw wrongValue('ERR_ARGUMENT', 'expected a weight of a vote above 0', weight)
}
