import { requireText } from '../base/known-options.js'
import { type ErrorCode, RankweaveError } from '../errors.js'
import { asSource, type ByteSource, isGzip } from './byte-source.js'
import { printable } from './printable.js'

interface TextReaderOptions {
  /** The name for messages. */
  readonly file: string
  readonly code: ErrorCode
  /** The first character of a comment line. */
  readonly comment: string
  /** Whether comments may also follow content on a line. Default false. */
  readonly inlineComments?: boolean
  /** The number of lines before the source, if it is part of a text. Default 0: the whole text. */
  readonly linesBefore?: number
}

/** The ends of the lines of a text, as its first line shows them. */
export type LineEnds = 'LF' | 'CR LF' | 'CR'

/** The bytes per read of the source. */
const chunkBytes = 1 << 18
/** The longest word, so that a word that begins in the buffer also ends there. */
const longestWord = 1 << 10

const newline = '\n'.charCodeAt(0)
const carriageReturn = '\r'.charCodeAt(0)
const tab = '\t'.charCodeAt(0)
const quote = '"'.charCodeAt(0)
const zero = '0'.charCodeAt(0)

/** The effects of a byte on a word. */
const inWord = 0
const isBlank = 1
const endsLine = 2
const endsContent = 3

/**
 * Reads words and numbers line by line from a source of any size in constant memory, and fails with file, line and
 * column (1-based, in bytes). Blanks are space, tab, carriage return, vertical tab and form feed. Lines end with a line
 * feed, or with a carriage return if the first line of the source ends with one alone.
 */
export class TextReader {
  readonly #source: ByteSource
  readonly #options: TextReaderOptions
  readonly #comment: number
  readonly #kind = new Uint8Array(256)
  readonly #decimal = new DecimalReader()
  /**
   * The buffer has one byte more than is ever filled. A line end follows the last byte, so that loops need no other
   * bound.
   */
  readonly #bytes = Buffer.alloc(chunkBytes + longestWord + 1)
  #at = 0
  #end = 0
  /** The position in the source of the first byte in the buffer. */
  #base = 0
  /** The position in the source of the current line. */
  #lineBegin = 0
  #line = 0
  readonly #linesBefore: number
  #sourceEnded = false
  /** Lines that end with carriage returns alone get line feeds as they are read. */
  #lineEnds: LineEnds = 'LF'
  #hasByteOrderMark = false

  constructor(source: string | Uint8Array | ByteSource, options: TextReaderOptions) {
    requireText('name of a source', options.file)
    this.#source = asSource(source)
    this.#options = options
    this.#comment = options.comment.charCodeAt(0)
    this.#linesBefore = options.linesBefore ?? 0
    for (const blank of [32, tab, 13, 11, 12]) this.#kind[blank] = isBlank
    this.#kind[newline] = endsLine
    if (options.inlineComments) this.#kind[this.#comment] = endsContent
    this.#bytes[0] = newline
  }

  /** Makes a character such as a comma separate words from here on, besides blanks; a tab is a blank if it does not. */
  separateBy(delimiter: string): void {
    this.#kind[tab] = isBlank
    this.#kind[delimiter.charCodeAt(0)] = endsContent
  }

  /** The number of bytes still to be read; null if it is unknown. */
  get bytesLeft(): number | null {
    const { sizeBytes } = this.#source
    return sizeBytes === null ? null : Math.max(0, sizeBytes - this.#base - this.#at)
  }

  get line(): number {
    return this.#linesBefore + Math.max(1, this.#line)
  }

  /** The ends of lines, once the first line has been read. */
  get lineEnds(): LineEnds {
    return this.#lineEnds
  }

  /** Whether the text begins with a byte-order mark, once the first line has been read. */
  get hasByteOrderMark(): boolean {
    return this.#hasByteOrderMark
  }

  /** Advances to the next word and returns its position in the source. */
  here(): number {
    return this.#base + this.#begin()
  }

  /** @param position the place on the current line to which the message points */
  fail(expected: string, got: string, position = this.#base + this.#at): never {
    const { file, code } = this.#options
    const { line } = this
    const column = Math.max(1, position - this.#lineBegin + 1)
    const message = `${file}:${line}:${column}: expected ${expected}, got ${printable(got)}`
    throw new RankweaveError(code, message, { details: { file, line, column } })
  }

  /** Advances to the next line; false at the end of the text. Errors then still point at the end of the last line. */
  nextLine(): boolean {
    if (this.#line === 0) return this.#firstLine()
    let at = this.#bytes.indexOf(newline, this.#at)
    while (at === this.#end) {
      this.#at = at
      if (!this.#fill()) return false
      at = this.#bytes.indexOf(newline, this.#at)
    }
    this.#at = at
    if (at + 1 === this.#end && !this.#fill()) return false
    this.#at++
    this.#line++
    this.#lineBegin = this.#base + this.#at
    return true
  }

  #firstLine(): boolean {
    this.#line = 1
    while (this.#end < 3 && this.#fill());
    this.#findLineEnds()
    if (this.#linesBefore > 0) return this.#end > 0
    if (isGzip(this.#bytes.subarray(0, this.#end)))
      this.fail('text', 'gzip-compressed data; run gunzip first', 0)
    const [first, second] = this.#bytes
    if (this.#end > 1 && first + second === 0xff + 0xfe && first >= 0xfe)
      this.fail('text in UTF-8', 'UTF-16', 0)
    this.#hasByteOrderMark = this.#bytes.subarray(0, 3).equals(byteOrderMark)
    if (this.#hasByteOrderMark) this.#lineBegin = this.#at = 3
    return this.#at < this.#end || this.#fill()
  }

  /** Examines the end of the first line. A first line of more than a chunk ends with a line feed. */
  #findLineEnds(): void {
    const bytes = this.#bytes
    for (;;) {
      const end = bytes
        .subarray(0, this.#end)
        .findIndex((byte) => byte === newline || byte === carriageReturn)
      const isOpen = end < 0 ? this.#end < chunkBytes : end === this.#end - 1 && bytes[end] === carriageReturn
      if (isOpen && this.#fill()) continue
      if (bytes[end] === carriageReturn) this.#lineEnds = bytes[end + 1] === newline ? 'CR LF' : 'CR'
      break
    }
    if (this.#lineEnds === 'CR') this.#replaceReturns(0)
  }

  #replaceReturns(from: number): void {
    const bytes = this.#bytes
    for (let at = from; at < this.#end; at++) if (bytes[at] === carriageReturn) bytes[at] = newline
  }

  /** Advances to the next line that is neither blank nor a comment. */
  nextContentLine(): boolean {
    while (this.nextLine()) if (!this.atLineEnd() && !this.atComment()) return true
    return false
  }

  /** Advances to the next line that is not a comment; it may be blank. */
  nextLineButComments(): boolean {
    while (this.nextLine()) if (!this.atComment()) return true
    return false
  }

  /** Whether a comment follows after blanks. */
  atComment(): boolean {
    this.#skipBlanks()
    return this.#bytes[this.#at] === this.#comment
  }

  /** Whether only blanks are left on the line, or a comment if comments may follow content. */
  atLineEnd(): boolean {
    this.#skipBlanks()
    const byte = this.#bytes[this.#at]
    return byte === newline || (byte === this.#comment && this.#kind[byte] === endsContent)
  }

  endOfLine(): void {
    if (!this.atLineEnd()) this.fail('the end of the line', this.shown())
  }

  /** Skips a character if it is next after blanks. */
  skip(character: string): boolean {
    this.#skipBlanks()
    if (this.#bytes[this.#at] !== character.charCodeAt(0) || this.#at === this.#end) return false
    this.#at++
    return true
  }

  /** Whether the next word is this one. */
  startsWith(word: string): boolean {
    const from = this.#begin()
    return (
      this.#kind[this.#bytes[from + word.length]] !== inWord &&
      this.#bytes.toString('latin1', from, from + word.length) === word
    )
  }

  /** Reads the next word; empty at the end of the line. */
  word(): string {
    const from = this.#begin()
    return this.#bytes.toString('latin1', from, this.#wordEnd(from))
  }

  /** Reads the next word, which must be one of `allowed`, upper or lower case. */
  oneOf<const T extends string>(allowed: readonly T[]): T {
    const from = this.#begin()
    const text = this.word().toLowerCase()
    const found = allowed.find((word) => word === text)
    if (found !== undefined) return found
    this.#at = from
    return this.fail(allowed.map((word) => `'${word}'`).join(', '), this.shown())
  }

  /** Reads the next word as an integer within bounds. */
  whole(what: string, min: number, max: number): number {
    const from = this.#begin()
    const bytes = this.#bytes
    let at = from
    let value = 0
    for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero)
      value = value * 10 + digit
    this.#at = at
    if (at > from && this.#kind[bytes[at]] !== inWord && value >= min && value <= max) {
      if (at - from <= longestWord) return value
    }
    this.#at = from
    return this.fail(`${what} from ${min} to ${max}`, this.shown())
  }

  /** Reads the next word as an integer that a double holds exactly. */
  integer(what: string): number {
    const from = this.#begin()
    const word = this.word()
    const value = /^[+-]?\d+$/.test(word) ? Number(word) : Number.NaN
    if (Number.isSafeInteger(value)) return value
    this.#at = from
    return this.fail(Number.isNaN(value) ? what : `${what} of at most 2^53 - 1 either way`, this.shown())
  }

  /** Reads the next word as a number in decimal notation: finite, unless `Infinity` is allowed. */
  number(what: string, { infinite = false }: { readonly infinite?: boolean } = {}): number {
    const from = this.#begin()
    const value = this.#decimalAt(from)
    if (Number.isFinite(value)) return value
    this.#at = from
    const limit = infinityOf(this.word())
    if (infinite && limit !== null) return limit
    this.#at = from
    return this.fail(Number.isNaN(value) ? what : `${what} that a double can hold`, this.shown())
  }

  /** Returns the word as a number, NaN if it is not one. */
  #decimalAt(from: number): number {
    const value = this.#decimal.read(this.#bytes, from)
    const { end } = this.#decimal
    if (this.#kind[this.#bytes[end]] === inWord || end - from > longestWord) return Number.NaN
    this.#at = end
    return value
  }

  /** Whether a quoted field follows. */
  atQuote(): boolean {
    return this.#bytes[this.#begin()] === quote && this.#at < this.#end
  }

  /** Whether the field is empty. */
  atFieldEnd(): boolean {
    return this.#kind[this.#bytes[this.#begin()]] !== inWord
  }

  /** Returns the rest of the line, at most a kilobyte of it; the reader does not advance. */
  peekLine(): string {
    const from = this.#begin()
    const end = Math.min(this.#bytes.indexOf(newline, from), from + longestWord)
    return this.#bytes.toString('utf8', from, end)
  }

  /** Returns the beginning of the next field, without quotes; the reader does not advance. */
  peekField(): string {
    const from = this.#begin()
    return this.#bytes.toString('utf8', this.atQuote() ? from + 1 : from, Math.min(this.#end, from + 40))
  }

  /**
   * Reads the next field, up to a delimiter or the end of the line, or a quoted one. It is truncated after a kilobyte.
   */
  field(): string {
    if (this.atQuote()) return this.#quoted()
    const words: string[] = []
    let length = 0
    while (!this.atFieldEnd()) {
      const word = this.word()
      if (length <= longestWord) words.push(word)
      length += word.length
    }
    return words.join(' ')
  }

  /**
   * Reads a quoted field, which may contain anything, line ends and delimiters too; a quote in it is doubled (RFC
   * 4180).
   */
  #quoted(): string {
    const text: number[] = []
    const opened = `${this.line}:${this.here() - this.#lineBegin + 1}`
    this.#at++
    for (;;) {
      if (this.#at === this.#end && !this.#fill())
        this.fail(`a closing quote for the one at ${opened}`, 'the end of the text')
      const byte = this.#bytes[this.#at++]
      if (byte === newline) {
        this.#line++
        this.#lineBegin = this.#base + this.#at
      } else if (byte === quote) {
        if (this.#at === this.#end) this.#fill()
        if (this.#bytes[this.#at] !== quote || this.#at === this.#end) break
        this.#at++
      }
      if (text.length < longestWord) text.push(byte)
    }
    if (!this.atFieldEnd()) this.fail('a delimiter or the end of the line after a quote', this.shown())
    return Buffer.from(text).toString()
  }

  /** Returns the word or character at the current position, for a message. */
  shown(): string {
    const from = this.#begin()
    let to = from
    while (to < this.#end && to - from < 40 && this.#kind[this.#bytes[to]] === inWord) to++
    if (to > from) return `'${this.#bytes.toString('utf8', from, to)}'`
    const byte = this.#bytes[from]
    return byte === newline || this.#at === this.#end
      ? 'the end of the line'
      : `'${String.fromCharCode(byte)}'`
  }

  /** Advances to the next word and makes sure that the buffer holds all of it. */
  #begin(): number {
    this.#skipBlanks()
    while (this.#end - this.#at <= longestWord && !this.#sourceEnded) this.#fill()
    return this.#at
  }

  /** Advances past the word and returns its end. */
  #wordEnd(from: number): number {
    let at = from
    while (this.#kind[this.#bytes[at]] === inWord) at++
    if (at - from > longestWord)
      this.fail(
        `a word of at most ${longestWord} characters`,
        `'${this.#bytes.toString('utf8', from, from + 40)}...'`,
      )
    this.#at = at
    return at
  }

  #skipBlanks(): void {
    for (;;) {
      let at = this.#at
      while (this.#kind[this.#bytes[at]] === isBlank) at++
      this.#at = at
      if (at < this.#end || !this.#fill()) return
    }
  }

  /** Reads more bytes after the unused ones; false at the end of the source. */
  #fill(): boolean {
    if (this.#sourceEnded) return false
    const bytes = this.#bytes
    bytes.copyWithin(0, this.#at, this.#end)
    this.#base += this.#at
    this.#end -= this.#at
    this.#at = 0
    const count = this.#source.read(bytes.subarray(this.#end, bytes.length - 1))
    this.#end += count
    bytes[this.#end] = newline
    if (this.#lineEnds === 'CR') this.#replaceReturns(this.#end - count)
    this.#sourceEnded = count === 0
    return count > 0
  }
}

/** The number that `inf` of Python, `Inf` of R or `Infinity` stand for, with a sign or without; null for other texts. */
export function infinityOf(text: string): number | null {
  const found = /^([+-]?)([Ii]nf|Infinity)$/.exec(text)
  return found === null ? null : Number(`${found[1]}Infinity`)
}

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

const plus = '+'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const dot = '.'.charCodeAt(0)
const lowerE = 'e'.charCodeAt(0)
const upperE = 'E'.charCodeAt(0)

/** Reads numbers in decimal notation from bytes. The last byte must not belong to a number. */
class DecimalReader {
  /** The index after the number that was read last. */
  end = 0

  /**
   * Reads the number that begins at a byte, NaN if none does. With at most 15 digits and a small exponent, digits and
   * power of ten are exact doubles. So one multiplication or division rounds correctly (Clinger 1990, How to Read
   * Floating Point Numbers Accurately). JavaScript parses the others.
   */
  read(bytes: Buffer, from: number): number {
    let at = from
    const sign = bytes[at]
    if (sign === minus || sign === plus) at++
    let value = 0
    let digits = 0
    let power = 0
    for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero) {
      value = value * 10 + digit
      digits++
    }
    if (bytes[at] === dot) {
      at++
      for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero) {
        value = value * 10 + digit
        digits++
        power--
      }
    }
    if (bytes[at] === lowerE || bytes[at] === upperE) {
      at++
      const down = bytes[at] === minus
      if (down || bytes[at] === plus) at++
      const first = at
      let exponent = 0
      for (let digit = bytes[at] - zero; digit >= 0 && digit <= 9; digit = bytes[++at] - zero)
        exponent = exponent * 10 + digit
      if (at === first) digits = 0
      power += down ? -exponent : exponent
    }
    this.end = at
    if (digits === 0) return Number.NaN
    if (digits > 15 || power > 22 || power < -22) return Number(bytes.toString('latin1', from, at))
    const magnitude = power < 0 ? value / powersOfTen[-power] : value * powersOfTen[power]
    return sign === minus ? -magnitude : magnitude
  }
}

const powersOfTen = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
