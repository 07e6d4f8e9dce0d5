import type { Command } from 'commander'
import { z } from 'zod'
import { defaultK, friendWords } from '../../neighborhood/choose/plan-request.js'
import { kindsText } from '../../neighborhood/strategies/strategies.js'
import { groupingEngines } from '../../topology/friends/grouping-options.js'
import { readMachine } from './machine-input.js'
import { oneOf, whole } from './options.js'

/** Engines of a process that has the whole topology. */
const engines = groupingEngines.filter((engine) => engine !== 'distributed')

/**
 * The options that choose a strategy, for `plan`, `simulate` and `spmm`.
 *
 * @param others words that `--strategy` takes besides the strategies
 */
export function addStrategyOptions(command: Command, others: readonly string[] = []): Command {
  const words = [...others, kindsText].join(', ')
  return command
    .option('--strategy <text>', `${words}, with options as below`, 'common-neighbor')
    .option('--k <number>', `friends per group, at least 2 (default: ${defaultK})`)
    .option(
      '--mode <mode>',
      'agnostic: any ranks are friends; aware: friends share a node (default: aware with --machine)',
    )
    .option(
      '--theta <number>',
      'a group needs more common neighbors than this (default: k when aware, k(k-1) when agnostic)',
    )
    .option('--no-dedupe', 'repeat the exchange of friends that meet in several steps')
    .option('--no-elide', 'send direct messages even where an exchange delivers them')
    .option('--engine <name>', `how friends are grouped: ${engines.join(', ')} (default: ${engines[0]})`)
    .option(
      '--labels <seed>',
      'break ties between groups by a permutation of the ranks (default: by the ranks themselves)',
    )
    .option('--machine <text>', 'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=32')
}

/** Names of the options of {@link addStrategyOptions} but the machine. */
export const strategyOptionNames = ['strategy', ...friendWords] as const

/** Commander has `true` where `--no-...` is not given. */
const unlessNo = z.boolean().transform((given) => (given ? undefined : false))

/** What is not given is undefined, but for the strategy. */
export const strategySchema = {
  strategy: z.string(),
  k: whole(2, 2 ** 20).optional(),
  mode: oneOf('agnostic', 'aware').optional(),
  theta: whole(0, 2 ** 31 - 1).optional(),
  dedupe: unlessNo,
  elide: unlessNo,
  engine: z.string().optional(),
  labels: whole(0, 2 ** 32 - 1).optional(),
  machine: z
    .string()
    .transform((text) => readMachine(text).machine)
    .optional(),
}

/** How a command spells its options. */
export function spelledBy({ options }: Command): (name: string) => string {
  return (name) => options.find((option) => option.attributeName() === name)?.long ?? name
}
