/** Prints 12345.678 as `12,345.68`; at most two digits after the point. */
export function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/** Returns `1 rank`, `2 ranks`. */
export function counted(count: number, one: string, more: string): string {
  return `${figure(count)} ${count === 1 ? one : more}`
}

/** Prints three digits, or the whole number if it has more: `0.123`, `12.3`, `1,235`. */
export function significant(value: number): string {
  return value >= 999.5 ? figure(Math.round(value)) : value.toPrecision(3)
}

export function secondsText(value: number): string {
  return value < 0.9995 ? `${significant(value * 1000)} ms` : `${value.toFixed(2)} s`
}

/**
 * Returns how many percent fewer or more `part` is than `whole`.
 *
 * @param less `less` for quantities that are not counted
 */
export function change(part: number, whole: number, less = 'fewer'): string {
  if (whole === 0 || part === whole) return 'the same'
  const percent = (100 * Math.abs(whole - part)) / whole
  return `${percent.toFixed(1)}% ${part < whole ? less : 'more'}`
}

/** Returns `min 10, mean 18.28, max 20`. */
export function rangeText({
  min,
  mean,
  max,
}: {
  readonly min: number
  readonly mean: number
  readonly max: number
}) {
  return `min ${figure(min)}, mean ${figure(mean)}, max ${figure(max)}`
}

/** A row of a result, written once: its fields in the object of `--json`, and its line in the text. */
export interface ResultRow {
  readonly fields: Readonly<Record<string, unknown>>
  /** The label and the text; a null text leaves the line out. */
  readonly line: readonly [label: string, text: string | null]
}

/**
 * Makes a row of the object and of the text.
 *
 * @param label Default: the name of the field.
 * @param text Default: the value, a number with its thousands apart.
 */
export function row(field: string, value: string | number, label?: string, text?: string | null): ResultRow
export function row(field: string, value: unknown, label: string, text: string | null): ResultRow
export function row(
  field: string,
  value: unknown,
  label = field,
  text: string | null = typeof value === 'number' ? figure(value) : String(value),
): ResultRow {
  return { fields: { [field]: value }, line: [label, text] }
}

/** Makes a row of the object alone. */
export function held(fields: ResultRow['fields']): ResultRow {
  return { fields, line: ['', null] }
}

/** Makes a row of the text alone, about fields of other rows. */
export function shown(label: string, text: string | null): ResultRow {
  return { fields: {}, line: [label, text] }
}

/** A kind of what is odd in a file although it was accepted, with the first places. */
interface OddityRow {
  readonly kind: string
  readonly count: number
  readonly places: readonly { readonly line: number | null; readonly text: string }[]
}

/** Makes rows of the oddities of a file. */
export function oddityRows(oddities: readonly OddityRow[]): readonly ResultRow[] {
  const rows = oddities.flatMap(({ kind, count, places }) => {
    const texts = places.map(({ line, text }) => (line === null ? text : `line ${line}: ${text}`))
    const more = count > places.length ? [`and ${figure(count - places.length)} more`] : []
    return [...texts, ...more].map((text, i) => shown(i === 0 ? kind.replaceAll('-', ' ') : '', text))
  })
  return [held({ odd: oddities }), ...(rows.length === 0 ? [shown('odd', 'nothing')] : rows)]
}

/** Returns the object that `--json` prints. */
export function objectOf(rows: readonly ResultRow[]): object {
  return Object.assign({}, ...rows.map(({ fields }) => fields))
}

/** Returns the rows as text in two columns, below a heading. */
export function textOf(rows: readonly ResultRow[], heading?: string): string {
  const lines = table(rows.map(({ line }) => line))
  return heading === undefined ? lines : `${heading}\n${lines}`
}

/** Puts labels and values in two columns; a null value leaves the row out. */
export function table(rows: readonly (readonly [label: string, value: string | null])[]): string {
  const shown = rows.filter(([, value]) => value !== null)
  const width = Math.max(0, ...shown.map(([label]) => label.length))
  return shown.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')
}

/** A column of a table: its title, and its text for each row. */
export type ResultColumn<Row> = readonly [title: string, text: (row: Row, index: number) => string]

/** Returns rows, such as those of an array in the object, as a table: the first column left-aligned, others right-aligned. */
export function columns<Row>(rows: readonly Row[], shownColumns: readonly ResultColumn<Row>[]): string {
  const lines = [
    shownColumns.map(([title]) => title),
    ...rows.map((each, i) => shownColumns.map(([, text]) => text(each, i))),
  ]
  const widths = shownColumns.map((_, c) => Math.max(...lines.map((cells) => cells[c].length)))
  const cell = (text: string, c: number) => (c === 0 ? text.padEnd(widths[c]) : text.padStart(widths[c]))
  return lines.map((cells) => `  ${cells.map(cell).join('  ')}`.trimEnd()).join('\n')
}
