const arrays = new Map<string, Int32Array>()

/** Longer arrays are allocated for each use, so that one large split does not retain memory. */
const longest = 4096

/**
 * Scratch memory, valid until control returns to the event loop; not cleared. Allocating arrays of more than
 * a few words would dominate the cost of a small split.
 */
export function scratch(name: string, length: number): Int32Array {
  if (length > longest) return new Int32Array(length)
  let array = arrays.get(name)
  if (array === undefined) {
    array = new Int32Array(longest)
    arrays.set(name, array)
  }
  return array.subarray(0, length)
}
