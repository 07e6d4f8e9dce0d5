/**
 * How a figure came about. `derived`: from figures of several origins, each named in the source.
 * `simulated` and `measured` figures never share a table or a plot: each has one origin.
 */
export const origins = ['counted', 'simulated', 'measured', 'derived'] as const
export type FigureOrigin = (typeof origins)[number]

/** What a table or a plot shows, and where its figures are from. */
export interface Figures {
  readonly title: string
  readonly origin: FigureOrigin
  /** Words after the mark: on which machine, by what, in which unit. */
  readonly source: string
}

export type Cell = string | number | null

export interface Column {
  readonly title: string
  /** Values that a publication prints, beside ours. */
  readonly isPrinted?: true
}

export interface Table extends Figures {
  readonly kind: 'table'
  readonly columns: readonly Column[]
  /** As many cells as columns; null where there is no value. */
  readonly rows: readonly (readonly Cell[])[]
}

export interface Axis {
  readonly label: string
  /** `bytes`: by powers of two, with binary prefixes; 0 is drawn as 1. */
  readonly scale: 'bytes' | 'logarithmic' | 'linear'
}

export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Lines over a common axis. */
export interface LinePlot extends Figures {
  readonly kind: 'lines'
  /** Of its file, without ending: lower-case letters, digits and hyphens, unique in the document. */
  readonly name: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
}

/** Horizontal bars, each in parts that add up. */
export interface BarPlot extends Figures {
  readonly kind: 'bars'
  readonly name: string
  /** What the bars count. */
  readonly unit: string
  /** Names of the parts, in their order. */
  readonly parts: readonly string[]
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[]
}

/** A grid of cells over lengths of blocks, each of a class that has a color. */
export interface CellPlot extends Figures {
  readonly kind: 'cells'
  readonly name: string
  /** Of the columns: ascending, each once; drawn by powers of two, 0 like half a byte. */
  readonly bytes: readonly number[]
  readonly yLabel: string
  /** Names of the rows, from the bottom. */
  readonly rows: readonly string[]
  readonly classes: readonly CellClass[]
  /** By row and column the index of a class; -1 for no value. Length: rows x columns. */
  readonly cells: ArrayLike<number>
}

export interface CellClass {
  readonly name: string
  /** `#rrggbb` */
  readonly color: string
  /** In the middle of its cells, so that it is known without its color: at most 3 characters. */
  readonly mark: string
}

export type Plot = LinePlot | BarPlot | CellPlot

export interface Section {
  readonly title: string
  /** Sentences, a paragraph each. */
  readonly text: readonly string[]
  readonly parts: readonly (Table | Plot)[]
}

export interface StudyDocument {
  readonly title: string
  readonly text: readonly string[]
  readonly sections: readonly Section[]
}

/** The plots of a document, in its order. */
export function plotsOf({ sections }: StudyDocument): Plot[] {
  return sections.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'table' ? [] : [part])))
}

/** The mark of an origin, as documents print it. */
export const marks: Readonly<Record<FigureOrigin, string>> = {
  counted: 'Counted',
  simulated: 'Simulated',
  measured: 'Measured',
  derived: 'Derived',
}
