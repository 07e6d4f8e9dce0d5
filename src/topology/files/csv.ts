import { requireOptions } from '../../base/known-options.js'
import type { ByteSource } from '../../text/byte-source.js'
import { formatDouble } from '../../text/printable.js'
import { infinityOf, TextReader } from '../../text/text-reader.js'
import { topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { GrowingEdges } from './edge-list.js'
import type { FileNotes } from './file-notes.js'

export interface CsvOptions {
  /** The name in messages. */
  readonly file?: string
  /**
   * The character that separates fields. Default: that of a first line such as `sep=;`, else the one that separates the
   * names of source and destination, or follows the first rank; else a semicolon, a comma, a tab or a bar, whichever of
   * these, in this order, occurs in the first line outside of quotes.
   */
  readonly delimiter?: Delimiter
  /** The number of ranks. Default: the largest rank that is named plus one. */
  readonly ranks?: number
}

type Delimiter = ',' | ';' | '\t' | '|'

/** The delimiters by the names that they have in `csv:FILE:delimiter=NAME`. */
export const delimiterNames: Readonly<Record<string, Delimiter>> = {
  ...{ comma: ',', semicolon: ';', tab: '\t', bar: '|' },
}

const mostColumns = 1024

type Column = 'source' | 'destination' | 'weight' | 'direction' | null

/** The names of columns, in lower case. */
const columnNames: Readonly<Record<string, Column>> = {
  ...{ source: 'source', src: 'source', from: 'source' },
  ...{ destination: 'destination', dst: 'destination', dest: 'destination', target: 'destination' },
  ...{ to: 'destination', weight: 'weight', type: 'direction' },
}

/**
 * Parses a topology from comma-separated values, one edge per line: source, destination and optionally a weight,
 * 0-based ranks. A first line that does not begin with a digit names the columns, in any order and case: `source`,
 * `src` or `from`; `destination`, `dst`, `dest`, `target` or `to`; `weight`; `type`, where Gephi writes `Undirected` or
 * `Mutual` for an edge in both directions, and which is ignored if its words are others; other columns are ignored. Fields may be quoted (RFC 4180). A row without
 * destination names a rank that need not have edges. In tables separated by semicolons a weight may have a decimal comma.
 * Blank lines and lines that begin with `#` are skipped. At most 1,024 columns. Lists are in the order of the rows.
 *
 * @param notes takes how the text was read, and what is odd in it
 * @throws ERR_TOPOLOGY with file, line and column
 */
export function parseCsv(
  source: string | ByteSource,
  options: CsvOptions = {},
  notes: FileNotes | null = null,
): ProcessTopology {
  requireOptions('parseCsv', options)
  const { file = 'table', delimiter = null, ranks = null } = options
  const reader = new TextReader(source, { file, code: 'ERR_TOPOLOGY', comment: '#' })
  return new CsvReader(reader, delimiter, ranks, notes).read()
}

/** The delimiters in the order in which they are sought. */
const delimiters = [';', ',', '\t', '|'] as const

function delimiterIn(line: string): Delimiter {
  // A comma further on may be that of a decimal fraction.
  const afterRank = /^\d+(?: *(\t)\s*\d|\s*([;,|]))/.exec(line)
  if (afterRank !== null) return (afterRank[1] ?? afterRank[2]) as Delimiter
  const unquoted = line.replaceAll(/"[^"]*"?/g, '')
  return (
    delimiters.find((each) => namesEnds(line, each)) ??
    delimiters.find((each) => unquoted.includes(each)) ??
    ','
  )
}

/** Whether a line that is divided at a delimiter names the columns of both ends. */
function namesEnds(line: string, delimiter: Delimiter): boolean {
  const columns = line.split(delimiter).map((field) => columnOf(field.replaceAll('"', '').trim()))
  return columns.includes('source') && columns.includes('destination')
}

function columnOf(name: string): Column {
  const word = name.toLowerCase()
  return Object.hasOwn(columnNames, word) ? columnNames[word] : null
}

class CsvReader {
  readonly #reader: TextReader
  /** The delimiter; null until the first line if none is given. */
  #delimiter: Delimiter | null
  readonly #ranks: number | null
  readonly #notes: FileNotes | null
  readonly #edges: GrowingEdges
  #columns: readonly Column[] = ['source', 'destination', 'weight']
  /** Whether the column `type` states directions; null before its first word. */
  #hasDirections: boolean | null = null

  constructor(
    reader: TextReader,
    delimiter: Delimiter | null,
    ranks: number | null,
    notes: FileNotes | null,
  ) {
    this.#reader = reader
    this.#delimiter = delimiter
    this.#ranks = ranks
    this.#notes = notes
    this.#edges = new GrowingEdges(reader, notes)
  }

  read(): ProcessTopology {
    const reader = this.#reader
    let named = false
    // An empty first field before a tab is one, although tabs are blanks where another character separates.
    reader.separateBy(this.#delimiter ?? '\t')
    for (let first = true; reader.nextContentLine(); ) {
      if (first && this.#isSeparatorLine()) continue
      if (this.#delimiter === null) {
        const line = reader.peekLine()
        if (/^\s*(#|$)/.test(line)) continue
        this.#delimiter = delimiterIn(line)
        reader.separateBy(this.#delimiter)
      }
      if (first && !/^\d/.test(reader.peekField())) {
        this.#readNames()
        named = true
      } else this.#readRow(named)
      first = false
    }
    if (this.#ranks === null && this.#edges.ranksNamed === 0) reader.fail('edges', 'the end of the text')
    this.#notes?.textForm(reader)
    if (this.#notes !== null) this.#notes.delimiter = this.#delimiter
    return this.#edges.toTopology(this.#ranks)
  }

  /** Reads the line by which Excel learns the delimiter of a table; a delimiter that was given prevails. */
  #isSeparatorLine(): boolean {
    const reader = this.#reader
    const found = /^"?sep=([^"\r]?)"?\r?$/i.exec(reader.peekLine())
    if (found === null) return false
    const named = delimiters.find((each) => each === found[1])
    if (named === undefined)
      return reader.fail("'sep=' with ';', ',', a tab or '|'", `'${found[1]}'`, reader.here())
    if (this.#delimiter === null) {
      this.#delimiter = named
      reader.separateBy(named)
    }
    return true
  }

  #readNames(): void {
    const reader = this.#reader
    const begin = reader.here()
    const columns: Column[] = []
    const { line } = reader
    if (this.#notes !== null) this.#notes.headerLine = line
    do {
      const at = reader.here()
      const name = reader.field().toLowerCase()
      const column = columnOf(name)
      if (column !== null && columns.includes(column))
        reader.fail(`one column of each kind`, `another ${column}: '${name.slice(0, 40)}'`, at)
      if (column === null) this.#ignoreColumn(line, name)
      if (columns.push(column) > mostColumns) reader.fail(`at most ${mostColumns} columns`, 'more', at)
    } while (this.#skipDelimiter())
    this.#endOfRow()
    if (!columns.includes('source') || !columns.includes('destination'))
      reader.fail(
        `columns 'source' (src, from) and 'destination' (dst, dest, target, to) separated by ${this.#shownDelimiter()}`,
        'other names',
        begin,
      )
    this.#columns = columns
  }

  #readRow(named: boolean): void {
    const reader = this.#reader
    let source = -1
    let destination = -1
    let weight: number | null = null
    let isUndirected = false
    let column = 0
    do {
      if (column === this.#columns.length) {
        const [expected, got] = reader.atLineEnd()
          ? [`at most ${column} columns`, 'one more']
          : ['the end of the line', reader.shown()]
        reader.fail(expected, got)
      }
      switch (this.#columns[column++]) {
        case 'source':
          source = this.#rank('a source rank')
          break
        case 'destination':
          if (!reader.atFieldEnd()) destination = this.#rank('a destination rank')
          break
        case 'weight':
          if (reader.atFieldEnd()) break
          if (destination >= 0 || named) weight = this.#weight()
          break
        case 'direction':
          isUndirected = this.#isUndirected()
          break
        default:
          reader.field()
      }
    } while (this.#skipDelimiter())
    if (source < 0) reader.fail('a source rank', reader.shown())
    if (destination < 0) this.#edges.name(source)
    else {
      this.#edges.expectWeight(weight !== null)
      this.#edges.add(source, destination, weight)
      if (isUndirected && source !== destination) this.#edges.add(destination, source, weight)
    }
    this.#endOfRow()
  }

  /** Reads a word of the column `type`: all rows have words of direction there, or none has. */
  #isUndirected(): boolean {
    const begin = this.#reader.here()
    const word = this.#reader.field().trim().toLowerCase()
    if (word === '') return false
    const isDirection = ['directed', 'undirected', 'mutual'].includes(word)
    if (this.#hasDirections === null && !isDirection) this.#ignoreColumn(this.#reader.line, 'type')
    this.#hasDirections ??= isDirection
    if (isDirection !== this.#hasDirections) {
      const expected = isDirection
        ? 'no direction, as in rows above'
        : 'Directed, Undirected or Mutual, as in rows above'
      this.#reader.fail(expected, `'${word.slice(0, 40)}'`, begin)
    }
    return isDirection && word !== 'directed'
  }

  #ignoreColumn(line: number, name: string): void {
    this.#notes?.odd('ignored-fields', line, `column '${name.slice(0, 40)}' is ignored`)
  }

  #skipDelimiter(): boolean {
    return this.#reader.skip(this.#delimiter!)
  }

  #endOfRow(): void {
    const reader = this.#reader
    if (!reader.atLineEnd()) reader.fail(`${this.#shownDelimiter()} or the end of the line`, reader.shown())
  }

  #shownDelimiter(): string {
    return this.#delimiter === '\t' ? 'a tab' : `'${this.#delimiter}'`
  }

  #rank(what: string): number {
    const reader = this.#reader
    const last = (this.#ranks ?? topologyLimits.ranks) - 1
    if (!reader.atQuote()) return reader.whole(what, 0, last)
    const at = reader.here()
    const text = reader.field()
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value <= last) return value
    return reader.fail(`${what} from 0 to ${last}`, `'${text.slice(0, 40)}'`, at)
  }

  #weight(): number {
    const reader = this.#reader
    const what = 'a number as weight'
    const hasDecimalCommas = this.#delimiter === ';'
    if (!reader.atQuote() && !hasDecimalCommas) return reader.number(what, { infinite: true })
    const at = reader.here()
    const given = reader.field()
    const text = hasDecimalCommas && !given.includes('.') ? given.replace(',', '.') : given
    const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
    if (isNumber) return Number(text)
    return infinityOf(text) ?? reader.fail(what, `'${given.slice(0, 40)}'`, at)
  }
}

/**
 * Yields the text that {@link parseCsv} reads, in pieces, with a line of names; edges ordered by source, then in list
 * order. A last row without destination names the last rank if no edge does. The receiving side's weights are lost.
 */
export function* csvText({ ranks, outStart, outRank, outWeight }: ProcessTopology): Generator<string> {
  yield outWeight === null ? 'source,destination\n' : 'source,destination,weight\n'
  let largest = -1
  for (let p = 0; p < ranks; p++)
    for (let e = outStart[p]; e < outStart[p + 1]; e++) {
      largest = Math.max(largest, p, outRank[e])
      yield outWeight === null ? `${p},${outRank[e]}\n` : `${p},${outRank[e]},${formatDouble(outWeight[e])}\n`
    }
  if (largest < ranks - 1) yield outWeight === null ? `${ranks - 1},\n` : `${ranks - 1},,\n`
}
