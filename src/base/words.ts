/** 32-bit words as the bytes an exchange carries. */
export function bytesOf(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}

/** The words of bytes that start at a multiple of 4 in their buffer, as those of an exchange do. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
}
