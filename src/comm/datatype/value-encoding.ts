import { Deserializer, Serializer } from 'node:v8'
import { RankweaveError, reasonText } from '../../errors.js'

// The plain Serializer and Deserializer, not `serialize` and `deserialize`: those make typed arrays inside a value
// views of the received bytes, which structured clone does not, and so would share memory between receivers.

/**
 * The structured clone of a value as bytes. Shared memory is refused even where it could be shared, so that a
 * program behaves alike on every layout.
 *
 * @param call what the value was passed to, for the message
 * @throws ERR_CLONE naming what cannot be cloned
 */
export function encodeValue(value: unknown, call?: string): Uint8Array {
  const serializer = new Serializer()
  try {
    serializer.writeHeader()
    serializer.writeValue(value)
    return serializer.releaseBuffer()
  } catch (cause) {
    throw new RankweaveError('ERR_CLONE', `${call === undefined ? '' : `${call}: `}${reasonText(cause)}`, {
      cause,
    })
  }
}

/** The value in `bytes`, which it shares nothing with. */
export function decodeValue(bytes: Uint8Array): unknown {
  const deserializer = new Deserializer(bytes)
  deserializer.readHeader()
  return deserializer.readValue()
}
