/** The bytes of a typed array, not copied. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  if (array.constructor === Uint8Array) return array as Uint8Array
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

/** Whether two arrays have bytes in common. */
export function overlap(a: ArrayBufferView, b: ArrayBufferView): boolean {
  return (
    a.buffer === b.buffer &&
    a.byteOffset < b.byteOffset + b.byteLength &&
    b.byteOffset < a.byteOffset + a.byteLength
  )
}

/**
 * The 32-bit words of bytes that start at a multiple of 4 in their buffer, as those of a frame do; not
 * copied.
 */
export function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
}
