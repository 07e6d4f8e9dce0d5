// Tables of docs/collective-algorithms.md, from what the algorithms say of themselves.
// `npm run docs:algorithms` writes them; test/algorithm-tables.test.ts compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { combines, ranksServed } from '../src/cli/output/algorithm-list.js'
import { algorithms, servedCalls } from '../src/collective/algorithms.js'
import type { Algorithm } from '../src/collective/patterns/algorithm.js'
import { type MarkedTable, optionHeads, optionRows, pageWithTables, tableOf } from './marked-tables.js'

export const algorithmPage = new URL('../docs/collective-algorithms.md', import.meta.url)

const page = 'collective-algorithms.md'
/** The page says once that tables and equations are of this work. */
const tablesOf = 'Pjesivac-Grbovic 2007'

/** By what `ranksServed` says; `serves` of an algorithm for two ranks says so itself. */
const onlyFor: Readonly<Record<string, string>> = {
  even: '; even P only',
  'powers of two': '; powers of two only',
}

function rowOf(algorithm: Algorithm): string[] {
  const { id, catalog } = algorithm
  if (catalog === undefined) throw new Error(`${id} has no entry in the catalog`)
  const { phases, messages, sent = '', serves, source = '' } = catalog
  const ranks = ranksServed(algorithm)
  const published = source.replace(new RegExp(`${tablesOf},? `), '')
  return [
    ...[`\`${id}\``, phases, messages, sent, combines(algorithm)],
    ...[`${serves}${onlyFor[ranks] ?? ''}`, published],
  ]
}

const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

/** A row for each parameter, with all algorithms that have it alike. */
function parameterRows(): string[][] {
  const algorithmsOf = new Map<string, string[]>()
  for (const { id, parameters = {} } of algorithms)
    for (const row of optionRows(parameters)) {
      const cells = JSON.stringify(row)
      algorithmsOf.set(cells, [...(algorithmsOf.get(cells) ?? []), id])
    }
  return Array.from(algorithmsOf, ([cells, ids]) => {
    const [parameter, ...rest] = JSON.parse(cells) as string[]
    return [parameter!, quoted(ids), ...rest]
  })
}

const parameters = parameterRows()

const tables: readonly MarkedTable[] = [
  {
    page,
    mark: 'algorithms',
    table: tableOf(
      ['algorithm', 'phases', 'messages', 'sent', 'combines', 'serves', 'source'],
      algorithms.map(rowOf),
    ),
  },
  {
    page,
    mark: 'parameters',
    table:
      parameters.length === 0
        ? 'No algorithm has parameters.'
        : tableOf(['parameter', 'algorithms', ...optionHeads], parameters),
  },
  {
    page,
    mark: 'calls',
    table: tableOf(
      ['collective', 'calls', 'blocks of varying lengths', 'in place'],
      Object.entries(servedCalls).map(([collective, { calls, uneven, inPlace }]) => [
        collective,
        quoted(calls),
        quoted(uneven),
        inPlace ? 'yes' : '',
      ]),
    ),
  },
]

/** The text of the page with the tables of today's algorithms. */
export const pageWithAlgorithms = (text: string): string => pageWithTables(tables, page, text)

if (argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(algorithmPage, pageWithAlgorithms(readFileSync(algorithmPage, 'utf8')))
