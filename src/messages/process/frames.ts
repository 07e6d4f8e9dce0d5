import { RankweaveError } from '../../errors.js'
import { elementSizeBytes, typeCode } from '../datatype/elements.js'

/**
 * The kinds of frames between the runtimes of two processes. A header is an Int32Array; its words 0..2 are the kind of
 * the frame and the communicator it belongs to, the rest depends on the kind. Sizes are unsigned.
 */
export const frameKind = {
  // Point-to-point messages (messages/p2p).
  eager: 1,
  rendezvous: 2,
  clearToSend: 3,
  data: 4,
  acknowledge: 5,
  cancel: 6,
  cancelled: 7,
  shared: 8,
  // Collective calls (calls).
  collective: 16,
  revoke: 17,
  collectiveOffer: 20,
  // Agreement among the survivors of a loss (comm/survive).
  survivorRows: 21,
  // A process asks the owner of a table in shared memory for its segments (comm/table/shared-tables).
  sharedTableRequest: 18,
  sharedTable: 19,
  // Services of a process, outside any communicator.
  credit: 32,
  worldEnd: 33,
  quiesce: 34,
  stuck: 35,
  // A process looks up rows in a slice of a distributed rank table (comm/table/slice-service).
  sliceLookup: 36,
  sliceRows: 37,
  sliceRelease: 38,
  sliceDrop: 39,
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

/** Writes what {@link totalOf} and {@link offsetOf} read. */
export function writeTotal(header: Int32Array, totalBytes: number, offsetBytes: number): void {
  header[collectiveWord.total] = totalBytes
  header[collectiveWord.high] = (high(totalBytes) << 16) | high(offsetBytes)
}

function high(sizeBytes: number): number {
  return Math.floor(sizeBytes / 2 ** 32)
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

/**
 * A communicator's name: the world rank of its rank 0, and a counter of that rank's process. One that was made without
 * communication has a hash in both places, with a negative leader (`comm/range`).
 */
export interface ContextId {
  readonly leader: number
  readonly counter: number
}

/**
 * Returns the id as one number. It is exact because leaders are below 2^22, also those below 0, and counters below
 * 2^31.
 */
export function contextKey(id: ContextId): number {
  return id.leader * 2 ** 31 + id.counter
}

/** The words of the headers whose layout other rooms know: the end of a world, being stuck, look-ups in tables. */
const endingWords = 4
const stuckWords = 11
const sliceWords = 7
const sliceCountWord = 6

/** The words of a header, by kind; undefined: no frame has this kind. */
const wordsOfKind: readonly (number | undefined)[] = Array.from({ length: 40 }, (_, kind) => wordsOf(kind))

/** The kinds whose frames have no payload. */
const bare: ReadonlySet<number> = new Set([
  frameKind.rendezvous,
  frameKind.clearToSend,
  frameKind.acknowledge,
  frameKind.cancel,
  frameKind.cancelled,
  frameKind.collectiveOffer,
  frameKind.credit,
  frameKind.quiesce,
  frameKind.sliceRelease,
  frameKind.sliceDrop,
])

/** The kinds whose payload is 32-bit numbers. */
const inWords: ReadonlySet<number> = new Set([
  frameKind.survivorRows,
  frameKind.sliceLookup,
  frameKind.sliceRows,
])

/** The kinds that name memory of their sender: no process that shares none sends them. */
const ofSharedMemory: ReadonlySet<number> = new Set([
  frameKind.shared,
  frameKind.sharedTableRequest,
  frameKind.sharedTable,
])

/**
 * Checks a frame that came over a network, before anything of it is stored: its kind, and whether its words and its
 * payload agree. Facts that depend on a communicator or on earlier frames are checked there.
 *
 * @param maxPayloadBytes of the fabric: a payload that is longer continues in further frames
 * @throws ERR_PROTOCOL for a frame that no process sends over this fabric
 */
export function requireFrame(header: Int32Array, payload: Uint8Array, maxPayloadBytes: number): void {
  const kind = header[headerWord.kind]
  const words = wordsOfKind[kind]
  if (words === undefined) throw refused(`a kind of frame, got ${header.length === 0 ? 'no header' : kind}`)
  if (ofSharedMemory.has(kind)) throw refused(`no frame about shared memory, got one of kind ${kind}`)
  if (header.length !== words) throw inFrame(kind, `${words} words`, header.length)
  const { length } = payload
  if (bare.has(kind)) requireThat(length === 0, kind, 'no payload', length)
  else if (inWords.has(kind)) requireThat(length % 4 === 0, kind, 'whole numbers of 4 bytes', length)
  switch (kind) {
    case frameKind.eager:
    case frameKind.rendezvous:
      requireEnvelope(kind, header, length, maxPayloadBytes)
      return
    case frameKind.collective:
    case frameKind.collectiveOffer:
      requireCollective(kind, header, length)
      return
    case frameKind.sliceLookup: {
      const count = header[sliceCountWord]
      requireThat(count >= 0 && count * 4 <= maxPayloadBytes, kind, 'rows that fit in a frame', count)
      requireThat(length === 0 || length === count * 4, kind, 'as many rows as in its payload', count)
      return
    }
    default:
      if (words === transferWords && kind !== frameKind.survivorRows) requireTransfer(kind, header)
  }
}

function requireEnvelope(kind: number, header: Int32Array, length: number, maxPayloadBytes: number): void {
  const type = header[envelopeWord.type]
  requireThat(type >= typeCode.value && type <= typeCode.BigUint64Array, kind, 'a type of elements', type)
  const sizeBytes = header[envelopeWord.sizeBytes] >>> 0
  const elementBytes = elementSizeBytes(type)
  requireThat(sizeBytes % elementBytes === 0, kind, `a multiple of ${elementBytes} bytes`, sizeBytes)
  requireThat(header[envelopeWord.tag] >= 0, kind, 'a tag from 0', header[envelopeWord.tag])
  const acknowledge = header[envelopeWord.acknowledge]
  requireThat(acknowledge === 0 || acknowledge === 1, kind, '0 or 1 for the acknowledgment', acknowledge)
  const here = kind === frameKind.eager ? Math.min(sizeBytes, maxPayloadBytes) : 0
  requireThat(length === here, kind, `${here} bytes of a message of ${sizeBytes}`, length)
  const transferId = header[envelopeWord.transferId]
  const isNamed = kind === frameKind.rendezvous || acknowledge === 1 || here < sizeBytes
  requireThat(transferId >= (isNamed ? 1 : 0), kind, 'the id of a transfer', transferId)
}

function requireCollective(kind: number, header: Int32Array, length: number): void {
  const step = header[collectiveWord.step]
  requireThat(step >= 0, kind, 'a step from 0', step)
  const total = totalOf(header)
  if (kind === frameKind.collectiveOffer) {
    const transferId = header[collectiveWord.offset]
    requireThat(transferId > 0, kind, 'the id of a transfer', transferId)
    return
  }
  const end = offsetOf(header) + length
  requireThat(end <= total, kind, `at most ${total} bytes, as it says`, end)
  requireThat(length > 0 || total === 0, kind, `a part of ${total} bytes`, length)
}

function requireTransfer(kind: number, header: Int32Array): void {
  const transferId = header[transferWord.transferId]
  requireThat(transferId > 0, kind, 'the id of a transfer', transferId)
  const argument = header[transferWord.argument]
  const most = mostArgument[kind] ?? argument
  requireThat(argument >= 0 && argument <= most, kind, `an argument from 0 to ${most}`, argument)
}

/** The largest argument of the frames of transfers that have one. */
const mostArgument: Readonly<Record<number, number>> = {
  [frameKind.clearToSend]: transferMode.discard,
  [frameKind.cancel]: cancelStage.matched,
  [frameKind.cancelled]: cancelReason.freed,
}

function wordsOf(kind: number): number | undefined {
  switch (kind) {
    case frameKind.eager:
    case frameKind.rendezvous:
      return envelopeWords
    case frameKind.shared:
      return sharedWords
    case frameKind.collective:
    case frameKind.collectiveOffer:
      return collectiveWords
    case frameKind.revoke:
      return headerWord.counter + 1
    case frameKind.credit:
      return creditWords
    case frameKind.worldEnd:
    case frameKind.quiesce:
      return endingWords
    case frameKind.stuck:
      return stuckWords
    case frameKind.sharedTableRequest:
      return endingWords
    case frameKind.sharedTable:
    case frameKind.sliceLookup:
    case frameKind.sliceRows:
    case frameKind.sliceRelease:
    case frameKind.sliceDrop:
      return sliceWords
    case frameKind.clearToSend:
    case frameKind.data:
    case frameKind.acknowledge:
    case frameKind.cancel:
    case frameKind.cancelled:
    case frameKind.survivorRows:
      return transferWords
    default:
      return undefined
  }
}

function requireThat(holds: boolean, kind: number, expected: string, got: number): void {
  if (!holds) throw inFrame(kind, expected, got)
}

function inFrame(kind: number, expected: string, got: number): RankweaveError {
  return refused(`${expected} in a frame of kind ${kind}, got ${got}`)
}

function refused(expected: string): RankweaveError {
  return new RankweaveError('ERR_PROTOCOL', `expected ${expected}`)
}
