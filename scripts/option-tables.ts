// Tables of options in docs/, from the descriptions that the code checks by.
// `npm run docs:options` writes them; test/option-tables.test.ts compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import type { NamedOptions, Option } from '../src/base/option.js'
import { defaultText, expectedText } from '../src/base/option-table.js'
import { splitOptions } from '../src/comm/split/split-plan.js'
import { strategies } from '../src/neighborhood/strategies/strategies.js'
import { tuneOptions } from '../src/topology-communicator/execute/tune-options.js'

/** Options without help, such as `signal`, are in no table. */
function rowsOf(table: NamedOptions, before: readonly string[] = []): string[] {
  return Object.entries(table).flatMap(([name, option]) =>
    option.help === undefined ? [] : [row([...before, `\`${option.word ?? name}\``, ...cellsOf(option)])],
  )
}

function cellsOf(option: Option<unknown>): string[] {
  return [option.help ?? '', expectedText(option), defaultText(option) ?? '']
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function tableOf(heads: readonly string[], rows: readonly string[]): string {
  return [row(heads), `|${'---|'.repeat(heads.length)}`, ...rows].join('\n')
}

const heads = ['option', 'meaning', 'values', 'default'] as const

/** A table, its page in docs/, and what marks its place there. */
const tables: readonly { readonly page: string; readonly mark: string; readonly table: string }[] = [
  { page: 'splits-at-scale.md', mark: 'options of split', table: tableOf(heads, rowsOf(splitOptions)) },
  { page: 'choosing-a-strategy.md', mark: 'options of tune', table: tableOf(heads, rowsOf(tuneOptions)) },
  {
    page: 'strategies.md',
    mark: 'options of strategies',
    table: tableOf(
      ['strategy', ...heads],
      Object.entries(strategies).flatMap(([kind, { options }]) => rowsOf(options, [`\`${kind}\``])),
    ),
  },
]

export const optionPages = [...new Set(tables.map(({ page }) => page))]

/** The text of a page with the tables of today's options. */
export function pageWithOptions(page: string, text: string): string {
  return tables
    .filter((one) => one.page === page)
    .reduce((all, { mark, table }) => {
      const [begin, end] = [`<!-- ${mark} -->`, `<!-- end of ${mark} -->`].map((each) => all.indexOf(each))
      if (begin < 0 || end < begin) throw new Error(`${page} has no place for ${mark}`)
      const start = begin + `<!-- ${mark} -->`.length
      return `${all.slice(0, start)}\n\n${table}\n\n${all.slice(end)}`
    }, text)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const page of optionPages) {
    const url = new URL(`../docs/${page}`, import.meta.url)
    writeFileSync(url, pageWithOptions(page, readFileSync(url, 'utf8')))
  }
}
