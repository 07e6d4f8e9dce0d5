// A replicated axis repeats its n values in `cells` cells, at least n: cell i has value floor(i n / cells).

/** Returns the index of the value that a cell repeats. */
export function valueOfCell(cell: number, values: number, cells: number): number {
  return Math.floor((cell * values) / cells)
}

/** Returns the first cell of a value, which decides for it. */
export function cellOfValue(value: number, values: number, cells: number): number {
  return Math.ceil((value * cells) / values)
}

/** Returns how many values have their first cell before this one. */
export function valuesBeforeCell(cell: number, values: number, cells: number): number {
  return cell === 0 ? 0 : Math.min(values, Math.floor(((cell - 1) * values) / cells) + 1)
}

/** Returns the index of the first value that is not below a number, or the last index. */
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
