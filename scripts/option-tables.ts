// Tables of options and commands in docs/, from the descriptions that the code checks by.
// `npm run docs:options` writes them; test/option-tables.test.ts compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { splitOptions } from '../src/comm/split/split-plan.js'
import { strategies } from '../src/neighborhood/strategies/strategies.js'
import { tuneOptions } from '../src/topology-communicator/collectives/neighbor-call.js'
import { commandTables } from './command-tables.js'
import { type MarkedTable, optionRows, pageWithTables } from './marked-tables.js'

/** A line of a list: name, values, default, meaning. */
const lineOf = ([name, meaning, values, fallback]: readonly string[]) =>
  `- ${name} (${values}${fallback === '' ? '' : `; default: ${fallback}`}): ${meaning}`

const tables: readonly MarkedTable[] = [
  {
    page: 'splits-at-scale.md',
    mark: 'options of split',
    table: optionRows(splitOptions).map(lineOf).join('\n'),
  },
  { page: 'strategies.md', mark: 'options of tune', table: optionRows(tuneOptions).map(lineOf).join('\n') },
  {
    page: 'neighborhood-strategies.md',
    mark: 'options of strategies',
    table: Object.entries(strategies)
      .filter(([, { options }]) => Object.keys(options).length > 0)
      .map(([kind, { options }]) => [`**${kind}**`, '', ...optionRows(options).map(lineOf)].join('\n'))
      .join('\n\n'),
  },
  ...commandTables,
]

export const optionPages = [...new Set(tables.map(({ page }) => page))]

/** The text of a page with the tables of today's options. */
export const pageWithOptions = (page: string, text: string): string => pageWithTables(tables, page, text)

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const page of optionPages) {
    const url = new URL(`../docs/${page}`, import.meta.url)
    writeFileSync(url, pageWithOptions(page, readFileSync(url, 'utf8')))
  }
}
