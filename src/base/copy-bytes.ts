import { bufferFill } from './node-process.js'

/**
 * Copies `source` to `target` from `at` on; the two do not overlap. `TypedArray.set` copies to and from
 * shared memory word by word, and byte by byte when their alignments differ; `Buffer.fill` with an array as
 * pattern is one `memcpy`; browsers do not have it.
 */
export function copyBytes(target: Uint8Array, at: number, source: Uint8Array): void {
  const size = source.byteLength
  if (size <= smallBytes) for (let i = 0; i < size; i++) target[at + i] = source[i]
  else if (size < filledFromBytes || bufferFill === undefined) target.set(source, at)
  else bufferFill.call(target, source, at, at + size)
}

/** Up to this many bytes, a loop is faster than any call. */
const smallBytes = 32
/** Below this many bytes, the call into native code costs more than it saves. */
const filledFromBytes = 2048
