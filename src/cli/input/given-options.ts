import type { Command } from 'commander'
import { RankweaveError } from '../../errors.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'

/**
 * Refuses options that the user wrote where they have no effect; defaults pass.
 *
 * @param names as `opts()` of the command has them
 * @param reason follows the option: `is for algorithms, not for files`
 * @throws ERR_USAGE naming the first
 */
export function refuseGiven(command: Command, names: readonly string[], reason: string): void {
  const isGiven = (name: string) => names.includes(name) && command.getOptionValueSource(name) === 'cli'
  const option = command.options.find((one) => isGiven(one.attributeName()))?.long
  if (option != null) throw new RankweaveError('ERR_USAGE', `${option} ${reason}`, { details: { option } })
}

/** @throws ERR_USAGE for `--root` with a collective without a root */
export function refuseNeedlessRoot(
  command: Command,
  { collective }: { readonly collective: Collective },
): void {
  if (rootedCollectives.includes(collective)) return
  refuseGiven(command, ['root'], `is for ${rootedCollectives.join(', ')}, not for ${collective}`)
}
