import { type Command, Option } from 'commander'
import { z } from 'zod'
import { defaultK } from '../../neighborhood/choose/strategy-choice.js'
import { kindsText } from '../../neighborhood/strategies/strategies.js'
import { groupingEngines } from '../../topology/friends/grouping-options.js'
import { readMachine } from './machine-input.js'
import { oneOf, refuseGiven, whole } from './options.js'

/** Engines of a process that has the whole topology. */
const engines = groupingEngines.filter((engine) => engine !== 'distributed')

/** Names of the options that `--strategy common-neighbor` takes. */
const friendOptionNames = ['k', 'mode', 'theta', 'dedupe', 'elide', 'engine', 'labels'] as const

/**
 * The options that choose a strategy, for `plan`, `simulate` and `spmm`.
 *
 * @param others words that `--strategy` takes besides the strategies
 */
export function addStrategyOptions(command: Command, others: readonly string[] = []): Command {
  const words = [...others, kindsText].join(', ')
  return command
    .addOption(new Option('--strategy <text>', `${words}, with options as below`).default('common-neighbor'))
    .addOption(new Option('--k <number>', 'friends per group, at least 2').default(String(defaultK)))
    .addOption(
      new Option('--mode <mode>', 'agnostic: any ranks are friends; aware: friends share a node').default(
        undefined,
        'aware with --machine, else agnostic',
      ),
    )
    .addOption(
      new Option('--theta <number>', 'a group needs more common neighbors than this').default(
        undefined,
        'k when aware, k(k-1) when agnostic',
      ),
    )
    .addOption(new Option('--no-dedupe', 'repeat the exchange of friends that meet in several steps'))
    .addOption(new Option('--no-elide', 'send direct messages even where an exchange delivers them'))
    .addOption(
      new Option('--engine <name>', `how friends are grouped: ${engines.join(', ')}`).default('greedy'),
    )
    .addOption(
      new Option('--labels <seed>', 'break ties between groups by a permutation of the ranks').default(
        undefined,
        'by the ranks themselves',
      ),
    )
    .addOption(new Option('--machine <text>', 'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=32'))
}

/** Names of the options of {@link addStrategyOptions} but the machine. */
export const strategyOptionNames = ['strategy', ...friendOptionNames] as const

export const strategySchema = {
  strategy: z.string(),
  k: whole(2, 2 ** 20),
  mode: oneOf('agnostic', 'aware').optional(),
  theta: whole(0, 2 ** 31 - 1).optional(),
  dedupe: z.boolean(),
  elide: z.boolean(),
  engine: oneOf(...groupingEngines),
  labels: whole(0, 2 ** 32 - 1).optional(),
  machine: z
    .string()
    .transform((text) => readMachine(text).machine)
    .optional(),
}

/** @throws ERR_USAGE for options of friend groups beside a strategy that does not take them so */
export function refuseNeedlessFriends(command: Command, strategy: string): void {
  if (strategy === 'common-neighbor') return
  const has = strategy.startsWith('common-neighbor:') ? ': write it there' : ', not for this strategy'
  refuseGiven(command, friendOptionNames, `is for --strategy common-neighbor${has} (${strategy})`)
}
