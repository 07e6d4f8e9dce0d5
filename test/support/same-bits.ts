import { expect } from 'vitest'

/**
 * Loaded before tests: `toEqual` of typed arrays with the same bits, and of lists of the same numbers and
 * texts, passes at once, where vitest looks at every element, and then at every index as a property: a
 * millisecond for a thousand of them. Everything else goes that way, arrays that differ too.
 */
function sameBits(a: unknown, b: unknown): true | undefined {
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined
    // By index: what is not there is no number and no text.
    for (let i = 0; i < a.length; i++) if (!isPlain(a[i]) || !Object.is(a[i], b[i])) return undefined
    return true
  }
  if (!isTypedArray(a) || !isTypedArray(b)) return undefined
  if (a.length !== b.length || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined
  // A detached buffer has no bytes to compare.
  if (a.length === 0) return true
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0 ? true : undefined
}

const isPlain = (value: unknown) => typeof value === 'number' || typeof value === 'string'

const isTypedArray = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && !(value instanceof DataView)

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength)

// Without isolation this module is loaded for every file, and vitest keeps what it was given before.
const known = Symbol.for('rankweave: sameBits')
const all = globalThis as { [known]?: true }
if (all[known] === undefined) {
  all[known] = true
  expect.addEqualityTesters([sameBits])
}
