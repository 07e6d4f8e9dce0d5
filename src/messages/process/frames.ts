/**
 * The kinds of frames between the runtimes of two processes. A header is an Int32Array; its words 0..2 are the kind of
 * the frame and the communicator it belongs to, the rest depends on the kind. Sizes are unsigned.
 */
export const frameKind = {
  // point-to-point (comm/p2p)
  eager: 1,
  rendezvous: 2,
  clearToSend: 3,
  data: 4,
  acknowledge: 5,
  cancel: 6,
  cancelled: 7,
  shared: 8,
  // collectives (comm/calls)
  collective: 16,
  revoke: 17,
  collectiveOffer: 20,
  // survivors of lost processes (comm/survive)
  survivorRows: 21,
  // large tables (comm/table/shared-tables)
  askTable: 18,
  table: 19,
  // service frames: for the process, outside any communicator
  credit: 32,
  worldEnd: 33,
  quiesce: 34,
  stuck: 35,
  // look-ups in distributed rank tables (comm/table/slice-service)
  tableGet: 36,
  tableRows: 37,
  tableRelease: 38,
  tableDrop: 39,
} as const

export type FrameKind = (typeof frameKind)[keyof typeof frameKind]

export const headerWord = { kind: 0, leader: 1, counter: 2 } as const

/** The last kind of frames that belong to a communicator and wait until this process has opened it. */
export const lastCommunicatorKind = 31

/**
 * The words of envelopes, `eager` and `rendezvous`. An eager payload longer than one frame continues in `data` frames;
 * `transferId` is 0 if no further frame refers to the message.
 */
export const envelopeWord = {
  destWorldRank: 3,
  dest: 4,
  source: 5,
  tag: 6,
  type: 7,
  sizeBytes: 8,
  transferId: 9,
  /** 1 if the sender waits for `acknowledge`. */
  acknowledge: 10,
} as const
export const envelopeWords = 11

/**
 * The words of `shared`: an envelope, and the location of the payload in the sender's memory. The receiver copies it
 * and acknowledges.
 */
export const locationWord = { segment: 11, offsetLow: 12, offsetHigh: 13 } as const
export const sharedWords = 14

/**
 * The words of frames that follow an envelope. `clearToSend`: how (`transferMode`) and, for frames, up to which byte.
 * If the receiver has copied the payload, an empty frame of data says that it was intact. `cancel`: the sender requests
 * its unmatched message back, or cannot send a matched one (`cancelStage`). `cancelled`: the receiver will not take the
 * message, and the reason (`cancelReason`).
 */
export const transferWord = { transferId: 3, argument: 4, bytes: 5 } as const
export const transferWords = 6

export const transferMode = { frames: 0, bulk: 1, discard: 2, copied: 3 } as const
export const cancelStage = { unmatched: 0, matched: 1 } as const
export const cancelReason = { asked: 0, freed: 1 } as const

/** The words of `credit`: charges of messages (`Credit`) consumed since the last one, in bytes. */
export const creditWord = { bytes: 3 } as const
export const creditWords = 4

/** The number of words of a signature of a collective (`calls/signature`). */
export const signatureWords = 7

/** The words of the header of a collective's frames after those of every communicator frame. */
export const collectiveWord = {
  lane: 3,
  seq: 4,
  step: 5,
  signature: 6,
  /** The low 32 bits of the bytes of the whole message. */
  total: 6 + signatureWords,
  /**
   * `collective`: offset of this frame's part in the message, low 32 bits. `collectiveOffer`: id of the transfer by
   * which the receiver fetches it.
   */
  offset: 7 + signatureWords,
  /** The bits 32 to 47 of both: the total's in the upper half, the offset's in the lower. */
  high: 8 + signatureWords,
} as const

export const collectiveWords = 9 + signatureWords

export function totalOf(header: Int32Array): number {
  return (header[collectiveWord.total] >>> 0) + (header[collectiveWord.high] >>> 16) * 2 ** 32
}

/** Returns the offset in the message at which the payload of a `collective` frame belongs. */
export function offsetOf(header: Int32Array): number {
  return (header[collectiveWord.offset] >>> 0) + (header[collectiveWord.high] & 0xffff) * 2 ** 32
}

/**
 * Returns the payload bytes of the message that a frame begins, if its sender has taken credit for it (`Credit`);
 * otherwise -1.
 */
export function creditedBytes(header: Int32Array): number {
  const kind = header[headerWord.kind]
  if (kind === frameKind.eager) return header[envelopeWord.sizeBytes] >>> 0
  return kind === frameKind.collective && offsetOf(header) === 0 ? totalOf(header) : -1
}
