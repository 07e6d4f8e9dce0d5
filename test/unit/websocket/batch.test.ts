import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.js'
import { isRankweaveError } from '../../../src/errors.js'
import { bulkRecord } from '../../../src/fabric/bulk-transfers.js'
import { maxHeaderWords } from '../../../src/fabric/fabric.js'
import {
  Batch,
  BatchReader,
  batchBytes,
  batchPayloadBytes,
  pieceBytes,
  pieceMessageBytes,
  plainFrame,
} from '../../../src/websocket/batch.js'
import { cases } from '../../support/soak.js'

interface Frame {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

type Random = () => number

const below = (random: Random, end: number) => Math.floor(random() * end)

function randomFrame(random: Random): Frame {
  const isBulk = random() < 0.3
  const kind = isBulk ? 1 + below(random, bulkRecord.stopped) : plainFrame
  const words = isBulk ? 7 : below(random, maxHeaderWords + 1)
  const sizeBytes = isBulk && kind !== bulkRecord.data ? 0 : below(random, random() < 0.1 ? 4000 : 40)
  return {
    kind,
    header: Int32Array.from({ length: words }, () => below(random, 2 ** 32) | 0),
    payload: Uint8Array.from({ length: sizeBytes }, () => below(random, 256)),
  }
}

const reused = new Batch(batchBytes)

function encode(frames: readonly Frame[], sequence: number, capacity = batchBytes): Uint8Array<ArrayBuffer> {
  const batch = capacity === batchBytes ? reused : new Batch(capacity)
  batch.clear()
  for (const { kind, header, payload } of frames) {
    if (batch.hasSpaceFor(header.length, payload.length)) batch.add(kind, header, payload, 0, payload.length)
  }
  return batch.seal(sequence).slice()
}

function decode(message: Uint8Array, sequence: number): Frame[] {
  const reader = new BatchReader()
  reader.open(message, sequence)
  const frames: Frame[] = []
  while (reader.next()) {
    frames.push({ kind: reader.kind, header: reader.header.slice(), payload: reader.payload.slice() })
  }
  return frames
}

function refused(message: Uint8Array, sequence: number): boolean {
  const reader = new BatchReader()
  try {
    reader.open(message, sequence)
  } catch (error) {
    if (!isRankweaveError(error, 'ERR_PROTOCOL')) throw error
    expect(reader.next()).toBe(false)
    return true
  }
  return false
}

describe('a batch', () => {
  it('is read as it was written, wherever it lies in memory', () => {
    const random = seededRandom(1)
    for (let n = 0; n < cases(5000, 200); n++) {
      const frames = Array.from({ length: 1 + below(random, 8) }, () => randomFrame(random))
      const sequence = below(random, 2 ** 32)
      const message = encode(frames, sequence)
      const at = below(random, 9)
      const within = new Uint8Array(message.length + 16).fill(0xff)
      within.set(message, at)
      expect(decode(within.subarray(at, at + message.length), sequence)).toEqual(frames)
    }
  })

  it('has space for the largest frame, and a message of a piece for the largest piece', () => {
    const largest = {
      kind: plainFrame,
      header: new Int32Array(maxHeaderWords),
      payload: new Uint8Array(batchPayloadBytes),
    }
    expect(decode(encode([largest], 0), 0)).toEqual([largest])
    const piece = { kind: bulkRecord.data, header: new Int32Array(7), payload: new Uint8Array(pieceBytes) }
    expect(decode(encode([piece], 7, pieceMessageBytes), 7)).toEqual([piece])
    expect(new Batch(batchBytes).hasSpaceFor(7, pieceBytes)).toBe(false)
  })
})

describe('a message is refused before any of its frames is delivered', () => {
  const frames: Frame[] = [
    { kind: plainFrame, header: Int32Array.of(1, 2), payload: new Uint8Array(20) },
    { kind: bulkRecord.data, header: new Int32Array(7), payload: new Uint8Array(9) },
    { kind: plainFrame, header: Int32Array.of(3), payload: new Uint8Array(0) },
  ]
  const message = encode(frames, 5)
  const changed = (change: (view: DataView) => void) => {
    const copy = message.slice()
    change(new DataView(copy.buffer))
    return copy
  }

  it('when it is truncated or extended anywhere', () => {
    for (let length = 0; length < message.length; length++) {
      expect(refused(message.subarray(0, length), 5), `${length} bytes`).toBe(true)
    }
    for (const more of [1, 8, 16]) {
      const extended = new Uint8Array(message.length + more)
      extended.set(message)
      expect(refused(extended, 5)).toBe(true)
    }
    expect(refused(message, 5)).toBe(false)
  })

  it('when it is repeated, or one before it is missing', () => {
    expect(refused(message, 6)).toBe(true)
    expect(refused(message, 4)).toBe(true)
  })

  it.each<[string, (view: DataView) => void]>([
    ['a header is too long', (view) => view.setUint16(8, maxHeaderWords + 1, true)],
    ['a payload is too long', (view) => view.setUint32(12, batchPayloadBytes + 1, true)],
    ['a payload is longer than the message', (view) => view.setUint32(12, 1000, true)],
    ['a payload is longer than any memory', (view) => view.setUint32(12, 2 ** 32 - 1, true)],
    ['a kind is unknown', (view) => view.setUint16(10, bulkRecord.stopped + 1, true)],
    ['the record of a bulk transfer has too few words', (view) => view.setUint16(10, bulkRecord.ready, true)],
    ['frames end after the message', (view) => view.setUint32(12, 200, true)],
  ])('when %s', (_, change) => {
    expect(refused(changed(change), 5)).toBe(true)
  })
})
