import { cellText, type Document, marks, type Plot, type Table } from './document.js'

interface MarkdownOptions {
  /** The file of a plot, relative to the page. Without this function, plots are left out. */
  readonly plotFile?: (plot: Plot) => string
  /** An HTML comment after the title, such as the command that made the page. */
  readonly comment?: string
}

/** Writes a document as Markdown. Columns are padded, so that it reads well as plain text. */
export function* markdownOf(
  { title, text, sections }: Document,
  { plotFile, comment }: MarkdownOptions = {},
): Generator<string> {
  yield `# ${escaped(title)}\n\n`
  if (comment !== undefined) yield `<!-- ${comment} -->\n\n`
  yield* paragraphs(text)
  for (const section of sections) {
    yield `## ${escaped(section.title)}\n\n`
    yield* paragraphs(section.text)
    for (const part of section.parts) {
      if (part.kind === 'table') yield tableText(part)
      else if (plotFile !== undefined)
        yield `${labelOf(part)}![${escaped(part.title)}](${plotFile(part)})\n\n`
    }
  }
}

function* paragraphs(text: readonly string[]): Generator<string> {
  for (const paragraph of text) yield `${escaped(paragraph)}\n\n`
}

function labelOf({ title, origin, source }: Table | Plot): string {
  return `**${escaped(title)}** (${marks[origin].toUpperCase()}: ${escaped(source)})\n\n`
}

/** The longest cell of a padded column; columns with longer cells hold sentences. */
const mostPadded = 100

function tableText(table: Table): string {
  const heads = table.columns.map(({ title, isPrinted }) =>
    escaped(isPrinted === true ? `${title} (printed)` : title),
  )
  const rows = table.rows.map((row) => row.map((cell) => escaped(cellText(cell))))
  const isNumber = heads.map(
    (_, c) =>
      table.rows.some((row) => typeof row[c] === 'number') &&
      table.rows.every((row) => typeof row[c] !== 'string'),
  )
  const widths = heads.map((head, c) => {
    const least = Math.max(3, head.length)
    const widest = rows.reduce((most, row) => Math.max(most, row[c].length), least)
    return widest > mostPadded ? least : widest
  })
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, c) => (isNumber[c] ? cell.padStart(widths[c]) : cell.padEnd(widths[c]))).join(' | ')} |\n`
  const rule = line(widths.map((width, c) => (isNumber[c] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))))
  return `${labelOf(table)}${line(heads)}${rule}${rows.map(line).join('')}\n`
}

/** Names of topologies and files are text: no Markdown, no HTML, no end of a cell or line. */
const escaped = (text: string) => text.replace(/\p{Cc}/gu, ' ').replace(/[\\`*[\]<|]/g, '\\$&')
