import type { Command } from 'commander'
import * as z from 'zod'
import { friendWords, wordOf } from '../../client/protocol/plan-words.js'
import type { MapSource } from '../../neighborhood/choose/mapped-topology.js'
import { kindsText } from '../../neighborhood/strategies/strategies.js'
import { neighborCollectives } from '../../schedule/specification.js'
import { readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { machineCheck } from './machine-input.js'
import { openInput } from './open-input.js'
import { commandOptionsOf, oneOf, option } from './options.js'

/**
 * Returns the options that choose a strategy, for `plan`, `simulate` and `spmm`.
 *
 * @param others words that `--strategy` takes besides the strategies
 */
export function strategyOptions(others: readonly string[] = []) {
  const words = [...others, kindsText].join(', ')
  return {
    strategy: option('--strategy <text>', `${words}, with options as below`, z.string(), 'common-neighbor'),
    ...commandOptionsOf(friendWords),
    machine: option(
      '--machine <text>',
      'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=32',
      machineCheck,
    ),
  }
}

/** The option that names the neighborhood collective over a topology. */
export const operationOption = {
  operation: option(
    '--operation <name>',
    `of a topology: ${neighborCollectives.join(', ')} (default: that of the program, for a recorded edges:FILE; else ${neighborCollectives[0]})`,
    oneOf(...neighborCollectives),
  ),
}

/** The names of the options of {@link strategyOptions} except the machine. */
export const strategyOptionNames = ['strategy', ...Object.keys(friendWords).map(wordOf)]

/** Returns a function from names of options to their spelling in a command. */
export function spelledBy({ options }: Command): (name: string) => string {
  return (name) => options.find((option) => option.attributeName() === wordOf(name))?.long ?? name
}

/**
 * The option that places the vertices of a topology before it is planned. A file is read at once, and parsed when the
 * topology is known.
 */
export const mapOption = {
  map: option(
    '--map <file>',
    'place ranks on the machine first: auto, or a file of rankweave map',
    z.string().transform((given) => readMapSource(given)),
  ),
}

/** @throws ERR_FILE */
function readMapSource(text: string): MapSource {
  if (text === 'auto') return text
  const read = withSource(text, (source) => readText(source, text), { open: openInput })
  return { file: text, text: read }
}
