/**
 * An MPI message carries one or more frames of one sender. It begins with the sender and the message's size in bytes, a
 * word each, so MPI's status is not needed. A frame is a word with the payload's size, a word with its kind and the
 * header's size, the header and the payload. Each part is padded to 8 bytes. All kinds but 0 are records of the
 * fabric's own.
 */
export const messageHeadBytes = 8

/** The shift of the kind in the word with the header's size, which takes the bits below. */
export const kindShift = 8

/** The tag of all messages with frames; those of bulk transfers have larger ones. */
export const frameTag = 0

/** The largest payload of a frame. Larger ones go by bulk transfer. */
export const mpiPayloadBytes = 65_536

const framePrefixBytes = 8

export const padded = (bytes: number): number => (bytes + 7) & ~7

export const mpiFrameBytes = (headerWords: number, payloadBytes: number): number =>
  framePrefixBytes + padded(headerWords * 4) + padded(payloadBytes)

/** The size below which copying byte by byte is faster than `set`, and copying is faster than making a view. */
export const smallBytes = 32

/** Writes a frame at a multiple of 8. */
export function writeFrame(
  words: Int32Array,
  bytes: Uint8Array,
  at: number,
  header: Int32Array,
  payload: Uint8Array | undefined,
  kind: number,
): void {
  const headerWords = header.length
  const payloadBytes = payload === undefined ? 0 : payload.byteLength
  const first = at >> 2
  words[first] = payloadBytes
  words[first + 1] = (kind << kindShift) | headerWords
  for (let i = 0; i < headerWords; i++) words[first + 2 + i] = header[i]
  if (payloadBytes === 0) return
  const start = at + framePrefixBytes + padded(headerWords * 4)
  if (payloadBytes > smallBytes) bytes.set(payload!, start)
  else for (let i = 0; i < payloadBytes; i++) bytes[start + i] = payload![i]
}
