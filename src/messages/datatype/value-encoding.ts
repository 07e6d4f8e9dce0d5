import { RankweaveError, reasonText } from '../../errors.js'
import { ValueReader } from './value-reader.js'
import { ValueWriter } from './value-writer.js'

/** The writer, or undefined while it encodes: a getter of the value may send another value. */
let free: ValueWriter | undefined = new ValueWriter()

/**
 * Returns a copy of a value as bytes, the same bytes on Node and in browsers. The values that can be copied are in
 * docs/browser.md, "Values": those that the structured clone algorithm takes. Shared memory is refused even where it
 * could be shared, so that a program behaves alike on every layout.
 *
 * @param call what the value was passed to, for the message
 * @throws ERR_CLONE naming what cannot be cloned
 */
export function encodeValue(value: unknown, call?: string): Uint8Array {
  const writer = free ?? new ValueWriter()
  free = undefined
  try {
    return writer.encode(value)
  } catch (cause) {
    const message = `${call === undefined ? '' : `${call}: `}${reasonText(cause)}`
    throw new RankweaveError('ERR_CLONE', message, { cause })
  } finally {
    free = writer
  }
}

/**
 * Returns the value in `bytes`, which it shares nothing with.
 *
 * @throws ERR_CLONE for bytes that `encodeValue` has not made
 */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    return new ValueReader(bytes).decode()
  } catch (cause) {
    const message = `a received value cannot be decoded: ${reasonText(cause)}`
    throw new RankweaveError('ERR_CLONE', message, { cause })
  }
}
