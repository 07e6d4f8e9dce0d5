import { bytesOf } from '../../base/bytes.js'
import { requireFixed, type TypedArray, typeCodeOf } from './elements.js'

/**
 * An array that was checked, and its bytes. Whether memory is of fixed length never changes. It can only be detached,
 * and then its bytes are empty.
 */
export interface CheckedBuffer {
  readonly type: number
  readonly bytes: Uint8Array
}

/** The number of arrays that are retained; a window of messages has as many. */
const mostArrays = 128
/** Arrays with more memory share one place, so that little memory is retained. Those above `longestBytes` get none. */
const mostBufferBytes = 8192
const longestBytes = 65_536
/** The place of an array that may have more memory. */
const largePlace = 0
/** The interval of searches after as many arrays in a row were not found. */
const searchEvery = 64

/**
 * The arrays that were checked lately: a check takes longer than the rest of a short message. Programs use the same
 * arrays in the same order repeatedly, so each array knows which one came after it.
 */
export class CheckedBuffers {
  readonly #arrays: unknown[] = [undefined]
  readonly #checked: CheckedBuffer[] = [{ type: 0, bytes: new Uint8Array(0) }]
  /** The place of the array that came next, by place. */
  readonly #next: number[] = [0]
  #at = 0
  #oldest = largePlace + 1
  #missed = 0

  /** Returns undefined unless this array has been checked, still has its memory and is still known. */
  find(array: unknown): CheckedBuffer | undefined {
    let at = this.#at
    if (this.#arrays[at] !== array) {
      at = this.#next[at]
      if (this.#arrays[at] !== array) {
        at = this.#search(array)
        if (at < 0) return undefined
        this.#next[this.#at] = at
      }
      this.#at = at
    }
    const checked = this.#checked[at]
    return checked.bytes.length > 0 ? checked : undefined
  }

  /** @throws ERR_TYPE unless its memory is of fixed length, and it states what it has */
  check(array: TypedArray): CheckedBuffer {
    requireFixed(array)
    const checked = { type: typeCodeOf(array), bytes: bytesOf(array) }
    if (checked.bytes.length > 0 && checked.bytes.length <= longestBytes) this.#retain(array, checked)
    return checked
  }

  #retain(array: TypedArray, checked: CheckedBuffer): void {
    const place = checked.bytes.buffer.byteLength > mostBufferBytes ? largePlace : this.#nextPlace()
    this.#arrays[place] = array
    this.#checked[place] = checked
    this.#next[place] ??= place
    this.#next[this.#at] = place
    this.#at = place
  }

  #nextPlace(): number {
    const place = this.#oldest
    this.#oldest = place + 1 < mostArrays ? place + 1 : largePlace + 1
    return place
  }

  /** Searches an array, less often the more arrays were not found: arrays that are used once are never found. */
  #search(array: unknown): number {
    const missed = ++this.#missed
    if ((missed & (missed - 1)) !== 0 && missed % searchEvery !== 0) return -1
    const at = this.#arrays.indexOf(array)
    if (at >= 0) this.#missed = 0
    return at
  }
}
