// Tables of pages in docs/ that are generated, each between two marks.
import type { NamedOptions, Option } from '../src/base/option.js'
import { defaultText, expectedText } from '../src/base/option-table.js'

export interface MarkedTable {
  /** Its page in docs/. */
  readonly page: string
  /** What marks its place there. */
  readonly mark: string
  readonly table: string
}

export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [rowOf(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(rowOf)].join('\n')
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** Heads of {@link optionRows}. */
export const optionHeads = ['meaning', 'values', 'default'] as const

/** Options without help, such as `signal`, are in no table. */
export function optionRows(table: NamedOptions, before: readonly string[] = []): string[][] {
  return Object.entries(table).flatMap(([name, option]) =>
    option.help === undefined ? [] : [[...before, `\`${option.word ?? name}\``, ...cellsOf(option)]],
  )
}

function cellsOf(option: Option<unknown>): string[] {
  return [option.help ?? '', expectedText(option), defaultText(option) ?? '']
}

/** The text of a page with the tables of today. */
export function pageWithTables(tables: readonly MarkedTable[], page: string, text: string): string {
  return tables
    .filter((one) => one.page === page)
    .reduce((all, { mark, table }) => {
      const [begin, end] = [`<!-- ${mark} -->`, `<!-- end of ${mark} -->`].map((each) => all.indexOf(each))
      if (begin < 0 || end < begin) throw new Error(`${page} has no place for ${mark}`)
      const start = begin + `<!-- ${mark} -->`.length
      return `${all.slice(0, start)}\n\n${table}\n\n${all.slice(end)}`
    }, text)
}
