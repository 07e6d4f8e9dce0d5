/**
 * Copies `source` to `target` from `at` on; the two do not overlap. `TypedArray.set` copies to and from shared memory
 * word by word, and byte by byte when their alignments differ; `Buffer.fill` with an array as pattern is one `memcpy`.
 */
export function copyBytes(target: Uint8Array, at: number, source: Uint8Array): void {
  const size = source.byteLength
  if (size <= smallBytes) for (let i = 0; i < size; i++) target[at + i] = source[i]!
  else if (size < filledFromBytes) target.set(source, at)
  else fill.call(target, source, at, at + size)
}

/** Up to this many bytes, a loop is faster than any call. */
const smallBytes = 32
/** Below this many bytes, the call into native code costs more than it saves. */
const filledFromBytes = 2048

const fill = Buffer.prototype.fill as (
  this: Uint8Array,
  pattern: Uint8Array,
  start: number,
  end: number,
) => Uint8Array
