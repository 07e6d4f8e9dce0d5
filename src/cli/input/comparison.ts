import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { type AutoStrategy, parseAuto } from '../../neighborhood/choose/auto.js'
import type { Choice } from '../../neighborhood/choose/choice.js'
import { chooseStrategy } from '../../neighborhood/choose/choose-strategy.js'
import type { Strategy } from '../../neighborhood/plan/strategy.js'
import type { ProcessTopology } from '../../topology/process-topology.js'

/** What `--strategy auto` and `--compare` were given. */
export interface Comparison {
  readonly auto: AutoStrategy | null
  readonly machine: Machine
  readonly bytes: number
}

/**
 * Null where no strategies are to be compared.
 *
 * @throws ERR_USAGE for a comparison without --machine or --bytes
 * @throws ERR_MACHINE for one without a profile
 * @throws ERR_STRATEGY for options that `auto` does not have
 */
export function comparisonOf({
  strategy,
  machine,
  bytes,
  compare,
}: {
  readonly strategy: string
  readonly machine?: Machine | undefined
  readonly bytes?: number | undefined
  readonly compare: boolean
}): Comparison | null {
  const auto = parseAuto(strategy)
  if (auto === null && !compare) return null
  const what = auto === null ? '--compare' : '--strategy auto'
  const length = auto?.bytes ?? bytes
  if (machine === undefined) {
    throw new RankweaveError(
      'ERR_USAGE',
      `${what}: expected --machine with a profile, such as cluster:nodes=16,cores=16,profile=simgrid-fast`,
    )
  }
  if (length === undefined) {
    throw new RankweaveError('ERR_USAGE', `${what}: expected --bytes, the length of a block`)
  }
  profileOf(machine)
  return { auto, machine, bytes: length }
}

/** @param named a strategy that is compared with those that the library considers */
export function compareStrategies(
  topology: ProcessTopology,
  { auto, machine, bytes }: Comparison,
  named: Strategy | null,
): Choice {
  const { budget } = auto ?? {}
  return chooseStrategy(topology, machine, {
    bytes,
    ...(budget === undefined ? {} : { budget }),
    ...(named === null ? {} : { include: [named] }),
  })
}
