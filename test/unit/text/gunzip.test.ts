import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/random.js'
import { type ByteSource, sourceOf } from '../../../src/text/byte-source.js'
import { expansionLimit, gunzipSource } from '../../../src/text/source-file.js'
import { pipeOf } from '../../support/sources.js'
import { thrown } from '../topology/thrown.js'

function allOf(source: ByteSource, pieceBytes: number): Buffer {
  const pieces: Buffer[] = []
  const piece = new Uint8Array(pieceBytes)
  for (let count = source.read(piece); count > 0; count = source.read(piece)) {
    pieces.push(Buffer.from(piece.subarray(0, count)))
  }
  return Buffer.concat(pieces)
}

const gunzipped = (bytes: Uint8Array, pieceBytes = 5000) =>
  allOf(gunzipSource(sourceOf(bytes), 'f.gz'), pieceBytes)
const failure = (bytes: Uint8Array) => thrown(() => gunzipped(bytes))

/** The CRC-32 of bytes, as the trailer of a gzip file has it: node:zlib exports it from 20.15 only. */
const checksumOf = (bytes: Uint8Array) => gzipSync(bytes).subarray(-8, -4)

/** Random bytes, digits, a pattern, and repetitions from near and far. */
function sample(kind: number, length: number): Buffer {
  const random = seededRandom(kind * 1000 + length)
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) {
    const back = 1 + Math.floor(random() * 40_000)
    bytes[i] = [
      Math.floor(random() * 256),
      48 + Math.floor(random() * 10),
      (i % 17) * 3,
      random() < 0.02 || back > i ? Math.floor(random() * 256) : bytes[i - back],
    ][kind]
  }
  return bytes
}

describe('gunzipSource', () => {
  test.each([0, 1, 2, 3])(
    'expands what node:zlib compressed, at every level and strategy: kind %i',
    (kind) => {
      for (const length of [0, 1, 300, 70_000]) {
        const bytes = sample(kind, length)
        for (const [level, strategy] of [
          [0, 0],
          [1, 0],
          [6, 0],
          [9, 1],
          [6, 2],
          [6, 3],
          [6, 4],
        ] as const) {
          const compressed = gzipSync(bytes, { level, strategy })
          expect(gunzipped(compressed, 1 + ((length * 7919) % 60_000)).equals(bytes)).toBe(true)
        }
      }
    },
  )

  test('expands several members, one byte at a time, and ignores zeros after them', () => {
    const file = Buffer.concat([gzipSync('one '), gzipSync(''), gzipSync('two'), Buffer.alloc(9)])
    expect(allOf(gunzipSource(pipeOf(file, 1), 'f.gz'), 1).toString()).toBe('one two')
  })

  test('skips names, comments and extra fields', () => {
    const plain = gzipSync('text')
    const header = Buffer.from([...plain.subarray(0, 3), 2 + 4 + 8 + 16, ...plain.subarray(4, 10)])
    const fields = Buffer.from('\u0003\u0000abcname\u0000comment\u0000', 'latin1')
    const whole = Buffer.concat([header, fields])
    const file = Buffer.concat([whole, checksumOf(whole).subarray(0, 2), plain.subarray(10)])
    expect(gunzipped(file).toString()).toBe('text')
    file[whole.length] ^= 1
    expect(failure(file).message).toMatch(/corrupt gzip data before byte \d+: header crc mismatch$/)
  })

  test('a truncated file is rejected, wherever it ends', () => {
    const whole = gzipSync(sample(1, 3000))
    for (let length = 1; length < whole.length; length += 7) {
      expect(failure(whole.subarray(0, length))).toMatchObject({
        code: 'ERR_FILE',
        message: expect.stringMatching(
          /^cannot read 'f.gz': gzip data ends too early, after \d+ bytes: the file is truncated$/,
        ),
        details: { file: 'f.gz' },
      })
    }
  })

  test('a damaged file is rejected', () => {
    const whole = gzipSync(sample(1, 3000))
    for (let at = 12; at < whole.length - 1; at += 11) {
      const damaged = Buffer.from(whole)
      damaged[at] ^= 0x24
      expect(failure(damaged).code).toBe('ERR_FILE')
    }
    const checksum = Buffer.from(whole)
    checksum[whole.length - 6] ^= 1
    expect(failure(checksum).message).toMatch(/corrupt gzip data before byte \d+: incorrect data check$/)
    const length = Buffer.from(whole)
    length[whole.length - 1] ^= 1
    expect(failure(length).message).toMatch(/corrupt gzip data before byte \d+: incorrect length check$/)
    const more = Buffer.concat([whole, Buffer.from('more')])
    expect(failure(more).message).toMatch(/incorrect header check$/)
  })

  test('a small file that expands to very much is rejected', () => {
    const bomb = gzipSync(Buffer.alloc(expansionLimit.bytes + 2 ** 25))
    expect(failure(bomb)).toMatchObject({
      code: 'ERR_FILE',
      message: "cannot read 'f.gz': expands to more than 256 times its size: gunzip it, if you trust it",
    })
  })

  test('a file of very many members that are almost empty is rejected', () => {
    const empty = gzipSync(Buffer.alloc(0))
    const members = (count: number) => Buffer.concat(new Array<Buffer>(count).fill(empty))
    expect(failure(members(10_000))).toMatchObject({
      code: 'ERR_FILE',
      message: "cannot read 'f.gz': has more than 4096 gzip members of less than 256 bytes each",
    })
    expect(gunzipped(members(4_000))).toEqual(Buffer.alloc(0))
  })
})
