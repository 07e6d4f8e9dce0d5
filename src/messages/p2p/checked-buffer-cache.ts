import { type TypedArray, typeCode } from '../datatype/elements.js'

/** Longer arrays are not retained just to save the next check. */
const longestBytes = 65_536

/**
 * The last array that was checked, unless it is long, and its bytes. Whether memory is of fixed length never
 * changes; it can only be detached, and then its bytes are empty.
 */
export class CheckedBufferCache {
  type: number = typeCode.value
  bytes: Uint8Array = new Uint8Array(0)
  #array: unknown

  /** Whether this is that array, still with its memory. */
  is(data: unknown): boolean {
    return data === this.#array && this.bytes.length > 0
  }

  remember(array: TypedArray, type: number, bytes: Uint8Array): void {
    if (bytes.length > longestBytes) return
    this.#array = array
    this.type = type
    this.bytes = bytes
  }
}
