import { type ByteSource, sourceOf } from '../../src/text/byte-source.js'

/** Bytes that arrive a few at a time, as from a slow pipe, and whose number is unknown. */
export function pipeOf(data: Uint8Array | string, pieceBytes: number): ByteSource {
  const source = sourceOf(data)
  return {
    sizeBytes: null,
    read: (into) => source.read(into.subarray(0, Math.min(pieceBytes, into.length))),
    close: () => source.close(),
  }
}
