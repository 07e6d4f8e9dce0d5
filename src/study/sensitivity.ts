import { simulate } from '../cost/simulate/simulate.js'
import type { Machine } from '../machine/machine.js'
import { profileOf } from '../machine/network.js'
import { type Level, levels, type MessageCosts, type Profile } from '../machine/profile.js'
import type { LoweredSchedule } from '../schedule/lower/program.js'
import { type Sensitivity, type StudiedStrategy, type Variation, varied } from './study.js'

/** The number of other kinds whose best strategies are compared with the fastest of a length. */
export const comparedKinds = 2

/** The share by which a choice may be slower than the fastest and still count as good. */
export const closeEnough = 0.05

type Changed = Pick<Variation, 'cost' | 'factor'>
const changes: readonly Changed[] = varied.flatMap((cost) => [0.5, 2].map((factor) => ({ cost, factor })))

/**
 * Tests whether the fastest strategies remain the best when a cost of the profile is halved or doubled. Each is
 * compared with the best of {@link comparedKinds} other kinds of the same length. Every strategy is planned once;
 * memory: one schedule at a time.
 *
 * @param programOf plans and lowers a strategy by its text
 */
export function sensitivityOf(
  studied: readonly StudiedStrategy[],
  bytes: readonly number[],
  machine: Machine,
  programOf: (strategy: string) => LoweredSchedule,
): Sensitivity[] {
  const compared = bytes.map((_, i) => bestOfKinds(studied, i).slice(0, 1 + comparedKinds))
  const machines = changes.map((change) => changedMachine(machine, change))
  /** The times by strategy, length and change. */
  const times = new Map<string, readonly number[]>()
  for (const strategy of new Set(compared.flat())) {
    const program = programOf(strategy)
    for (const [i, length] of bytes.entries())
      if (compared[i].includes(strategy))
        times.set(
          `${i} ${strategy}`,
          machines.map((changed) => simulate(program, changed, { bytes: length }).timeUs),
        )
  }
  return bytes.map((length, i) => {
    const [strategy, ...others] = compared[i]
    const variations = changes.map((change, c): Variation => {
      const all = compared[i].map((each) => times.get(`${i} ${each}`)![c])
      const least = all.reduce((a, b) => Math.min(a, b))
      return { ...change, ratio: least === 0 ? 1 : all[0] / least }
    })
    return { bytes: length, strategy, others, variations }
  })
}

/** Returns the texts of the fastest of every kind, fastest first. */
function bestOfKinds(studied: readonly StudiedStrategy[], i: number): string[] {
  const byTime = studied.toSorted((a, b) => a.simulated[i].timeUs - b.simulated[i].timeUs)
  const kindOf = ({ strategy }: StudiedStrategy): string => strategy.split(':')[0]
  return byTime
    .filter((each, at) => byTime.findIndex((other) => kindOf(other) === kindOf(each)) === at)
    .map(({ strategy }) => strategy)
}

function changedMachine(machine: Machine, { cost, factor }: Changed): Machine {
  const profile = profileOf(machine)
  const changed = (costs: MessageCosts): MessageCosts => {
    const { latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte } = costs
    switch (cost) {
      case 'latency':
        return { ...costs, latencyNs: factor * latencyNs }
      case 'overhead':
        return {
          ...costs,
          sendOverheadNs: factor * sendOverheadNs,
          receiveOverheadNs: factor * receiveOverheadNs,
        }
      case 'bandwidth':
        return { ...costs, nsPerByte: nsPerByte / factor }
    }
  }
  const { latencyNs, nsPerByte } = profile.hop
  const hop: Profile['hop'] = {
    latencyNs: cost === 'latency' ? factor * latencyNs : latencyNs,
    nsPerByte: cost === 'bandwidth' ? nsPerByte / factor : nsPerByte,
  }
  const all = Object.fromEntries(levels.map((level) => [level, changed(profile.levels[level])]))
  return { ...machine, profile: { ...profile, levels: all as Record<Level, MessageCosts>, hop } }
}
