import { RankweaveError } from '../../errors.js'
import { elementSizeBytes, typeCode } from '../datatype/elements.js'
import {
  cancelReason,
  cancelStage,
  collectiveWord,
  collectiveWords,
  creditWords,
  envelopeWord,
  envelopeWords,
  frameKind,
  headerWord,
  offsetOf,
  sharedWords,
  totalOf,
  transferMode,
  transferWord,
  transferWords,
} from './frames.js'

/** The words of the headers whose layout other rooms know: the end of a world, being stuck, look-ups in tables. */
const endingWords = 4
const stuckWords = 11
const lookupWords = 7
const lookupCountWord = 6

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
  frameKind.tableRelease,
  frameKind.tableDrop,
])

/** The kinds whose payload is 32-bit numbers. */
const inWords: ReadonlySet<number> = new Set([
  frameKind.survivorRows,
  frameKind.tableGet,
  frameKind.tableRows,
])

/** The kinds that name memory of their sender: no process that shares none sends them. */
const ofSharedMemory: ReadonlySet<number> = new Set([frameKind.shared, frameKind.askTable, frameKind.table])

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
    case frameKind.tableGet: {
      const count = header[lookupCountWord]
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
    case frameKind.askTable:
      return endingWords
    case frameKind.table:
    case frameKind.tableGet:
    case frameKind.tableRows:
    case frameKind.tableRelease:
    case frameKind.tableDrop:
      return lookupWords
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
