import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { sourceOf } from '../../../src/text/byte-source.js'
import { TextReader } from '../../../src/text/text-reader.js'
import { refusal } from '../../support/refusal.js'
import { pipeOf } from '../../support/sources.js'
import { thrown } from '../topology/thrown.js'

const options = { file: 't', code: 'ERR_TOPOLOGY', comment: '%' } as const
const readerOf = (text: string) => new TextReader(sourceOf(text), options)

function wordsOf(reader: TextReader): string[][] {
  const lines: string[][] = []
  while (reader.nextLine()) {
    const words: string[] = []
    while (!reader.atLineEnd()) words.push(reader.word())
    lines.push(words)
  }
  return lines
}

test.each([1, 2, 3, 1000])('TextReader reads pieces of %i bytes as one text', (pieceBytes) => {
  const lines = Array.from({ length: 40 }, (_, i) => `${'x'.repeat(i * 25)} ${i} \t ${'y'.repeat(i)}`)
  const text = lines.join('\n')
  const words = lines.map((line) => line.split(/\s+/).filter((word) => word !== ''))
  expect(wordsOf(new TextReader(pipeOf(text, pieceBytes), options))).toEqual(words)
})

test('TextReader reads lines, blanks and comments longer than one read of the source', () => {
  const long = 1 << 20
  const reader = readerOf(`%${'c'.repeat(long)}\n${' '.repeat(long)}7${' 8'.repeat(long)} 9\nend`)
  expect(reader.nextContentLine()).toBe(true)
  expect(reader.whole('a number', 0, 9)).toBe(7)
  for (let i = 0; i < long; i++) if (reader.whole('a number', 0, 9) !== 8) throw new Error(`word ${i}`)
  expect(thrown(() => reader.whole('a number', 0, 8)).details).toEqual({
    file: 't',
    line: 2,
    column: 3 * long + 3,
  })
  expect(reader.nextLine()).toBe(true)
  expect(reader.word()).toBe('end')
  expect(reader.nextLine()).toBe(false)
})

test('TextReader reports the bytes left of a source with a size', () => {
  const reader = readerOf('ab cd\nef')
  expect(reader.bytesLeft).toBe(8)
  reader.nextLine()
  reader.word()
  expect(reader.bytesLeft).toBe(6)
  expect(new TextReader(pipeOf('ab', 1), options).bytesLeft).toBeNull()
})

test('TextReader skips a byte order mark', () => {
  const reader = readerOf('\ufeffword')
  reader.nextLine()
  expect(thrown(() => reader.whole('a number', 0, 1)).message).toBe(
    "t:1:1: expected a number from 0 to 1, got 'word'",
  )
  expect(wordsOf(new TextReader(pipeOf('\ufeffa\nb', 1), options))).toEqual([['a'], ['b']])
})

test('TextReader rejects gzip-compressed data and names the remedy', () => {
  const reader = new TextReader(sourceOf(gzipSync('word')), options)
  expect(thrown(() => reader.nextLine())).toMatchObject({
    code: 'ERR_TOPOLOGY',
    message: 't:1:1: expected text, got gzip-compressed data; run gunzip first',
  })
})

test('TextReader rejects UTF-16 in either order of bytes', () => {
  for (const bytes of [Uint8Array.of(0xff, 0xfe, 0x30, 0), Uint8Array.of(0xfe, 0xff, 0, 0x30)]) {
    const reader = new TextReader(sourceOf(bytes), options)
    expect(thrown(() => reader.nextLine()).message).toBe('t:1:1: expected text in UTF-8, got UTF-16')
  }
})

test('TextReader escapes control characters and bytes that are not UTF-8', () => {
  const reader = new TextReader(sourceOf(Uint8Array.of(0x7f, 0x45, 0x01, 0xff)), options)
  reader.nextLine()
  expect(thrown(() => reader.whole('a number', 0, 1)).message).toBe(
    "t:1:1: expected a number from 0 to 1, got '\\x7fE\\x01\\ufffd'",
  )
})

test('TextReader rejects words longer than a kilobyte, however they begin', () => {
  for (const word of ['x'.repeat(2000), '0'.repeat(2000), `0.${'0'.repeat(2000)}`, '1'.repeat(600_000)]) {
    const at = () => {
      const reader = readerOf(word)
      reader.nextLine()
      return reader
    }
    expect(thrown(() => at().word()).message).toMatch(/^t:1:1: expected a word of at most 1024 characters/)
    expect(() => at().whole('a number', 0, 9)).toThrow(refusal('ERR_TOPOLOGY'))
    expect(() => at().number('a number')).toThrow(refusal('ERR_TOPOLOGY'))
    expect(() => at().integer('a number')).toThrow(refusal('ERR_TOPOLOGY'))
  }
})

describe('TextReader reads numbers as JavaScript does', () => {
  const read = (word: string, infinite = false) => {
    const reader = readerOf(word)
    reader.nextLine()
    return reader.number('a number', { infinite })
  }
  test.each(
    // Short ones, the border of what is computed here (15 digits, 10^22), subnormal and halfway cases.
    [
      ...['0', '-0', '+7', '1.', '.5', '-.5e-3', '00012', '1e22', '1e23', '1e-22', '1e-23', '9e15', '0e5'],
      ...['123456789012345', '1234567890123456', '12345678901234567', '0.1', '0.30000000000000004'],
      ...['9007199254740993', '5e-324', '2e-324', '1.7976931348623157e308', '2.2250738585072014e-308'],
      ...['123456789.012345e7', '999999999999999e22', '0.000001', '1E5', '1e+5', '8.5e00000001'],
    ],
  )('%s', (word) => {
    expect(Object.is(read(word), Number(word))).toBe(true)
  })

  test.each(['', '.', '-', '+', 'e5', '1e', '1e+', '1x', '0x10', '1_0', '--1', 'NaN', 'Infinity', '1e999'])(
    'refuses %j',
    (word) => {
      expect(() => read(word)).toThrow(refusal('ERR_TOPOLOGY'))
    },
  )

  test('infinity where it is allowed', () => {
    expect(read('-Infinity', true)).toBe(-Infinity)
    expect(() => read('infinity', true)).toThrow(refusal('ERR_TOPOLOGY'))
    expect(() => read('1e999', true)).toThrow(refusal('ERR_TOPOLOGY'))
  })
})

test.each([1, 2, 7, 1 << 20])(
  'lines end with carriage returns where the first one does, in pieces of %s bytes',
  (size) => {
    const bytes = Buffer.from('1 2\r3\r\r4')
    let at = 0
    const source = {
      sizeBytes: bytes.length,
      read: (into: Uint8Array) => {
        const piece = bytes.subarray(at, at + Math.min(size, into.length))
        into.set(piece)
        at += piece.length
        return piece.length
      },
      close: () => {},
    }
    const reader = new TextReader(source, { file: 'f', code: 'ERR_TOPOLOGY', comment: '#' })
    const lines: [number, string[]][] = []
    while (reader.nextContentLine()) {
      const words: string[] = []
      while (!reader.atLineEnd()) words.push(reader.word())
      lines.push([reader.line, words])
    }
    expect(lines).toEqual([
      [1, ['1', '2']],
      [2, ['3']],
      [4, ['4']],
    ])
  },
)
