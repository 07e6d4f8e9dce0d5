import type { Command } from 'commander'
import * as z from 'zod'
import type { NamedOptions } from '../../base/option.js'
import { friendWords, type StrategyWords } from '../../client/protocol/plan-words.js'
import type { MapSource } from '../../neighborhood/choose/mapped-topology.js'
import { kindsText } from '../../neighborhood/strategies/strategies.js'
import { readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { readMachine } from './machine-input.js'
import { openInput } from './open-input.js'
import { addFlags, flagValues, parseOptions } from './options.js'

/**
 * Adds the options that choose a strategy, for `plan`, `simulate` and `spmm`.
 *
 * @param others words that `--strategy` takes besides the strategies
 */
export function addStrategyOptions(command: Command, others: readonly string[] = []): Command {
  const words = [...others, kindsText].join(', ')
  command.option('--strategy <text>', `${words}, with options as below`, 'common-neighbor')
  return addFlags(command, friendWords).option(
    '--machine <text>',
    'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=32',
  )
}

export const strategySchema = {
  strategy: z.string(),
  machine: z
    .string()
    .transform((text) => readMachine(text).machine)
    .optional(),
}

/**
 * Parses the options of a command with those of {@link addStrategyOptions}; options that are not given are undefined.
 */
export function parseStrategyOptions<T extends StrategyWords>(
  schema: z.ZodType<T>,
  raw: unknown,
): T & Omit<StrategyWords, 'strategy'> {
  return { ...parseOptions(schema, raw), ...flagValues(friendWords, raw) }
}

const wordOf = (name: string): string => (friendWords as NamedOptions)[name]?.word ?? name

/** The names of the options of {@link addStrategyOptions} except the machine. */
export const strategyOptionNames = ['strategy', ...Object.keys(friendWords).map(wordOf)]

/** Returns a function from names of options to their spelling in a command. */
export function spelledBy({ options }: Command): (name: string) => string {
  return (name) => options.find((option) => option.attributeName() === wordOf(name))?.long ?? name
}

/** Adds the option that places the vertices of a topology before it is planned. */
export function addMapOption(command: Command): Command {
  return command.option('--map <file>', 'place ranks on the machine first: auto, or a file of rankweave map')
}

/** The schema of {@link addMapOption}. A file is read at once, and parsed when the topology is known. */
export const mapSchema = {
  map: z
    .string()
    .transform((text) => readMapSource(text))
    .optional(),
}

/** @throws ERR_FILE */
function readMapSource(text: string): MapSource {
  if (text === 'auto') return text
  const read = withSource(text, (source) => readText(source, text), { open: openInput })
  return { file: text, text: read }
}
