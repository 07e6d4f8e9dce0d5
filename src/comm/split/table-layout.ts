import { evenBounds, type SliceBounds } from '../table/slice-bounds.js'
import { blockStart, columnsPerTable, type SorterLayout, shadowsOf } from './sorter-layout.js'

/**
 * The layout in which the slices of a column, or of several, become one distributed table
 * (docs/split-algorithms.md#tables). Process numbers are the parent's.
 */
export interface TableLayout {
  readonly bounds: SliceBounds
  /**
   * Returns the process that this one asks for rows of a slice, in closed form, so that a table of many slices is
   * small.
   */
  server(slice: number): number
  /** The slice that this process hosts; -1 for none. */
  readonly mine: number
  readonly home: number
  readonly users: number
  readonly hosts: number
  /** Returns one of the hosts, by a number below `hosts`. */
  host(index: number): number
}

/**
 * @param sorted bounds of the slices that the sorters have
 * @param tableGroup P': processes that share one table
 */
export function tableLayout(
  layout: SorterLayout,
  sorted: SliceBounds,
  tableGroup: number,
  processes: number,
): TableLayout {
  return tableGroup <= layout.sorters
    ? withinColumn(layout, sorted, tableGroup, processes)
    : acrossColumns(layout, sorted, tableGroup, processes)
}

/**
 * Lays out P' <= p slices: sorter k hosts slice floor(k P' / p), so a slice is hosted p / P' times; each process asks
 * one of these hosts.
 */
function withinColumn(
  layout: SorterLayout,
  sorted: SliceBounds,
  slices: number,
  processes: number,
): TableLayout {
  const { sorters, block, columns, column } = layout
  const host = (sorter: number) => blockStart(sorter, processes, sorters) + column
  return {
    bounds: slices === sorters ? sorted : evenBounds(sorted.rows, slices),
    server: (slice) => {
      const first = Math.ceil((slice * sorters) / slices)
      const count = Math.ceil(((slice + 1) * sorters) / slices) - first
      return host(first + (block % count))
    },
    mine: layout.isShadow ? -1 : Math.floor((block * slices) / sorters),
    home: host(0),
    users: sorters + (column === columns - 1 ? shadowsOf(processes, sorters) : 0),
    hosts: sorters,
    host,
  }
}

/**
 * Lays out P' > p slices: w neighboring columns each host 1/w of their sorters' slices; columns left over use the last
 * full group.
 */
function acrossColumns(
  layout: SorterLayout,
  sorted: SliceBounds,
  tableGroup: number,
  processes: number,
): TableLayout {
  const { sorters, columns, column, block } = layout
  const width = columnsPerTable(tableGroup, sorters, processes)
  const groups = Math.floor(columns / width)
  const group = Math.min(Math.floor(column / width), groups - 1)
  const firstColumn = group * width
  const isLast = group === groups - 1
  const slices = sorters * width
  const host = (slice: number) =>
    blockStart(Math.floor(slice / width), processes, sorters) + firstColumn + (slice % width)
  const hostsSlice = !layout.isShadow && column - firstColumn < width
  const userColumns = isLast ? columns - firstColumn : width
  return {
    bounds: sorted.subdivided(width),
    server: host,
    mine: hostsSlice ? block * width + column - firstColumn : -1,
    home: host(0),
    users: userColumns * sorters + (isLast ? shadowsOf(processes, sorters) : 0),
    hosts: slices,
    host,
  }
}
