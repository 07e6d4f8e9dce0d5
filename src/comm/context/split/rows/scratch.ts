const arrays = new Map<string, Int32Array>()

/** Longer ones are made anew, so that one large split does not keep memory for ever. */
const longest = 4096

/**
 * Words to work with until control goes back to the event loop; not cleared. Arrays of more than a few words are
 * memory of their own to the engine, and most of what a small split would cost.
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
