/**
 * The origins of figures. `derived` figures come from figures of several origins, each named in the source. `simulated`
 * and `measured` figures never share a table or a plot: each has one origin.
 */
const origins = ['counted', 'simulated', 'measured', 'derived'] as const
export type FigureOrigin = (typeof origins)[number]

/** The title of a table or a plot, and the source of its figures. */
interface Figures {
  readonly title: string
  readonly origin: FigureOrigin
  /** The words after the mark: the machine, the means and the unit. */
  readonly source: string
}

export type Cell = string | number | null

export interface Column {
  readonly title: string
  /** Whether the values are printed in a publication; they stand next to ours. */
  readonly isPrinted?: true
}

export interface Table extends Figures {
  readonly kind: 'table'
  readonly columns: readonly Column[]
  /** The rows, with as many cells as columns; null for a cell without a value. */
  readonly rows: readonly (readonly Cell[])[]
}

export interface Axis {
  readonly label: string
  /** The scale; `bytes` goes by powers of two, with binary prefixes, and 0 is drawn as 1. */
  readonly scale: 'bytes' | 'logarithmic' | 'linear'
}

export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Lines over a common axis. */
export interface LinePlot extends Figures {
  readonly kind: 'lines'
  /** The name of its file, without ending: lower-case letters, digits and hyphens, unique in the document. */
  readonly name: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
}

/** Horizontal bars, each in parts that add up. */
export interface BarPlot extends Figures {
  readonly kind: 'bars'
  readonly name: string
  /** The unit that the bars count. */
  readonly unit: string
  /** The names of the parts, in their order. */
  readonly parts: readonly string[]
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[]
}

/** A grid of cells over lengths of blocks, each of a class that has a color. */
export interface CellPlot extends Figures {
  readonly kind: 'cells'
  readonly name: string
  /** The lengths of the columns, ascending, each once. They are drawn by powers of two, 0 like half a byte. */
  readonly bytes: readonly number[]
  readonly yLabel: string
  /** The names of the rows, from the bottom. */
  readonly rows: readonly string[]
  readonly classes: readonly CellClass[]
  /** The index of a class, by row and column; -1 for no value. Length: rows x columns. */
  readonly cells: ArrayLike<number>
}

export interface CellClass {
  readonly name: string
  readonly color: string
  /** The mark in the middle of its cells, so that the class is known without its color: at most 3 characters. */
  readonly mark: string
}

export type Plot = LinePlot | BarPlot | CellPlot

export interface Section {
  readonly title: string
  /** The text, a paragraph for each string. */
  readonly text: readonly string[]
  readonly parts: readonly (Table | Plot)[]
}

export interface Document {
  readonly title: string
  readonly text: readonly string[]
  readonly sections: readonly Section[]
}

export function plotsOf({ sections }: Document): Plot[] {
  return sections.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'table' ? [] : [part])))
}

/** The mark of an origin, as documents print it. */
export const marks: Readonly<Record<FigureOrigin, string>> = {
  counted: 'Counted',
  simulated: 'Simulated',
  measured: 'Measured',
  derived: 'Derived',
}

/** Returns a cell as text: an en dash for no value. */
export function cellText(cell: Cell): string {
  if (cell === null) return '–'
  return typeof cell === 'string' ? cell : numberText(cell)
}

/**
 * Returns a number as text: integers in full, others with two digits after the point below 1,000, and three significant
 * ones below 1.
 */
export function numberText(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  const size = Math.abs(value)
  if (size < 1) return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
  return value.toLocaleString('en-US', { maximumFractionDigits: size < 1000 ? 2 : 0 })
}

/** Returns a length such as `4 B`, `1 KiB`, `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  let value = bytes
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024
    unit++
  }
  return `${numberText(value)} ${units[unit]}`
}
