import { frameKind, headerWord } from '../process/frames.js'
import type { ProcessPort } from '../process/process-port.js'
import { signatureWords } from './signature.js'

/** Words of the header of a collective's frames after those of every communicator frame. */
export const collectiveWord = {
  lane: 3,
  seq: 4,
  step: 5,
  signature: 6,
  /** Bytes of the whole message; low 32 bits. */
  total: 6 + signatureWords,
  /**
   * `collective`: offset of this frame's part in the message, low 32 bits. `collectiveOffer`: id of the transfer by which
   * the receiver fetches it.
   */
  offset: 7 + signatureWords,
  /** Bits 32 to 47 of both: the total's in the upper half, the offset's in the lower. */
  high: 8 + signatureWords,
} as const

export const collectiveWords = 9 + signatureWords

/** Bytes of the whole message. */
export function totalOf(header: Int32Array): number {
  return (header[collectiveWord.total]! >>> 0) + (header[collectiveWord.high]! >>> 16) * 2 ** 32
}

/** Where in the message the payload of a `collective` frame belongs. */
export function offsetOf(header: Int32Array): number {
  return (header[collectiveWord.offset]! >>> 0) + (header[collectiveWord.high]! & 0xffff) * 2 ** 32
}

export function writeTotal(header: Int32Array, totalBytes: number, offsetBytes: number): void {
  header[collectiveWord.total] = totalBytes
  header[collectiveWord.high] = (high(totalBytes) << 16) | high(offsetBytes)
}

/**
 * Returns the charge of a message that is dropped instead of received, when its first frame arrives: once per message,
 * however many frames it has.
 */
export function returnCharge({ credit }: ProcessPort, src: number, header: Int32Array): void {
  if (header[headerWord.kind] === frameKind.collective && offsetOf(header) === 0) {
    credit.consumed(src, totalOf(header))
  }
}

function high(sizeBytes: number): number {
  return Math.floor(sizeBytes / 2 ** 32)
}
