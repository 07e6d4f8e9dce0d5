import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  initRing,
  maxPayloadOf,
  RingReader,
  RingWriter,
  ringBytes,
} from '../../../../src/fabric/threads/threads-ring.js'
import { cases } from '../../../support/soak.js'

const sizeBytes = 4096
const header = new Int32Array(16)

describe('the room in a ring', () => {
  it('takes as many bytes in pieces as it states, wherever the last record ended', () => {
    const records = fc.array(fc.nat(maxPayloadOf(sizeBytes)), { maxLength: 20 })
    fc.assert(
      fc.property(records, fc.nat(3), fc.integer({ min: 1, max: 500 }), (sizes, unread, pieceBytes) => {
        const memory = { buffer: new SharedArrayBuffer(ringBytes(sizeBytes)), offset: 0, sizeBytes }
        initRing(memory)
        const writer = new RingWriter(memory)
        const reader = new RingReader(memory)
        const payload = new Uint8Array(sizeBytes)
        sizes.forEach((size, n) => {
          if (!writer.write(0, header, payload, 0, size)) return
          if (n % 4 < unread) return
          while (reader.next());
          reader.release()
        })
        const room = writer.roomFor(pieceBytes)
        for (let at = 0; at < room; at += pieceBytes) {
          const end = Math.min(room, at + pieceBytes)
          if (!writer.write(0, header, payload, at, end)) expect([at, room]).toEqual('no room')
        }
      }),
      { numRuns: cases(200) },
    )
  })

  it('is most of an empty ring', () => {
    const memory = { buffer: new SharedArrayBuffer(ringBytes(2 ** 20)), offset: 0, sizeBytes: 2 ** 20 }
    initRing(memory)
    expect(new RingWriter(memory).roomFor(2 ** 16)).toBe(14 * 2 ** 16)
  })
})
