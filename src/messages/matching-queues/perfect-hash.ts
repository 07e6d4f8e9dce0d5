/**
 * A table in which every key of a set has a place that one look-up finds. Keys stand in a square matrix, row by row.
 * Rows are moved to the right until no column has two keys: the columns are the table.
 *
 * @see Ghazimirsaeed 2019 chapter 4 (perfect hash by row displacement); Tarjan and Yao 1979
 */
export interface PerfectHash {
  readonly side: number
  /** The distance by which each row is moved. */
  readonly displacements: Int32Array
  /** The key of each place; -1 if there is none. */
  readonly keys: Float64Array
}

/**
 * Builds the table. The rows with most keys are placed first, of equal ones the upper, each as far left as it fits.
 *
 * @param keys distinct integers of at least 0
 */
export function perfectHash(keys: readonly number[]): PerfectHash {
  let largest = 0
  for (const key of keys) largest = Math.max(largest, key)
  // The square is larger than the largest key: keys begin at 0.
  const side = Math.floor(Math.sqrt(largest)) + 1
  const rows = new Map<number, number[]>()
  for (const key of keys) {
    const row = Math.floor(key / side)
    const columns = rows.get(row)
    if (columns === undefined) rows.set(row, [key % side])
    else columns.push(key % side)
  }
  const displacements = new Int32Array(side)
  const placed: number[] = []
  for (const [row, columns] of [...rows].sort((a, b) => b[1].length - a[1].length || a[0] - b[0])) {
    let moved = 0
    while (columns.some((column) => placed[column + moved] !== undefined)) moved++
    displacements[row] = moved
    for (const column of columns) placed[column + moved] = row * side + column
  }
  return { side, displacements, keys: Float64Array.from(placed, (key) => key ?? -1) }
}

/** Returns the place of a key, or -1 for one that is not in the set. */
export function placeOfKey({ side, displacements, keys }: PerfectHash, key: number): number {
  const row = Math.floor(key / side)
  if (key < 0 || row >= side) return -1
  const place = displacements[row] + (key % side)
  return keys[place] === key ? place : -1
}
