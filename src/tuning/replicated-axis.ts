/** An axis of n values that is replicated to a longer one of cells. */
export interface ReplicatedAxis {
  /** The index of the value that a cell repeats. */
  valueOf(cell: number): number
  /** The first cell of a value: the one that decides for it. */
  cellOf(value: number): number
  /** How many values have their first cell before this one. */
  valuesBefore(cell: number): number
}

/** The replication of the quadtree: cell i has value floor(i n / cells), where n is at most `cells`. */
export function replicatedAxis(values: number, cells: number): ReplicatedAxis {
  return {
    valueOf: (cell) => Math.floor((cell * values) / cells),
    cellOf: (value) => Math.ceil((value * cells) / values),
    valuesBefore: (cell) => Math.min(values, Math.floor(((cell - 1) * values) / cells) + 1),
  }
}

/** The index of the first value that is not below a number; the last one where all are. */
export function indexNotBelow(ascending: readonly number[], value: number): number {
  let low = 0
  let high = ascending.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
