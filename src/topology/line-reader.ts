import { type ErrorCode, RankweaveError } from '../errors.js'

const newline = 10
const percent = 37
const zero = 48
const nine = 57

/** Reads words and numbers line by line from bytes, fast, and fails with file and line. */
export class LineReader {
  readonly #bytes: Uint8Array
  readonly #file: string
  readonly #code: ErrorCode
  #line = 0
  /** The next byte to read on this line, and where the line ends. */
  #at = 0
  #end = 0
  #nextLine = 0

  constructor(bytes: Uint8Array, file: string, code: ErrorCode) {
    this.#bytes = bytes
    this.#file = file
    this.#code = code
  }

  get bytesLeft(): number {
    return this.#bytes.length - Math.min(this.#nextLine, this.#bytes.length)
  }

  fail(expected: string, got: string): never {
    throw new RankweaveError(
      this.#code,
      `${this.#file}:${Math.max(1, this.#line)}: expected ${expected}, got ${got}`,
      { details: { file: this.#file, line: Math.max(1, this.#line) } },
    )
  }

  /** Goes to the next line; false at the end of the text, where the last line stays the place of errors. */
  nextLine(): boolean {
    if (this.#nextLine >= this.#bytes.length) {
      this.#at = this.#end
      return false
    }
    this.#at = this.#nextLine
    const end = this.#bytes.indexOf(newline, this.#at)
    this.#end = end < 0 ? this.#bytes.length : end
    this.#nextLine = this.#end + 1
    this.#line++
    return true
  }

  /** Goes to the next line that is neither blank nor a comment. */
  nextContentLine(): boolean {
    while (this.nextLine()) {
      this.#skipBlanks()
      if (this.#at < this.#end && this.#bytes[this.#at] !== percent) return true
    }
    return false
  }

  lineText(): string {
    return new TextDecoder().decode(this.#bytes.subarray(this.#at, this.#end))
  }

  /** One of the allowed words, in any case. */
  word<const T extends string>(text: string | undefined, allowed: readonly T[]): T {
    const found = allowed.find((word) => word === text?.toLowerCase())
    return found ?? this.fail(allowed.map((word) => `'${word}'`).join(', '), this.#shown(text ?? ''))
  }

  /** The next word as a whole number within bounds. */
  whole(what: string, min: number, max: number): number {
    this.#skipBlanks()
    const from = this.#at
    let value = 0
    while (this.#at < this.#end && this.#bytes[this.#at] >= zero && this.#bytes[this.#at] <= nine)
      value = value * 10 + this.#bytes[this.#at++] - zero
    const ended = this.#at === this.#end || isBlank(this.#bytes[this.#at])
    if (this.#at > from && ended && value >= min && value <= max) return value
    this.#at = from
    return this.fail(`${what} from ${min} to ${max}`, this.#shown(this.#token()))
  }

  /** The next word as a finite number. */
  number(what: string): number {
    this.#skipBlanks()
    const token = this.#token()
    const value = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(token) ? Number(token) : Number.NaN
    if (Number.isFinite(value)) return value
    return this.fail(Number.isNaN(value) ? what : `${what} that a double can hold`, this.#shown(token))
  }

  /** The next word as an integer that a double holds exactly. */
  integer(what: string): number {
    this.#skipBlanks()
    const token = this.#token()
    const value = /^[+-]?\d+$/.test(token) ? Number(token) : Number.NaN
    if (Number.isSafeInteger(value)) return value
    return this.fail(
      Number.isNaN(value) ? what : `${what} of at most 2^53 - 1 either way`,
      this.#shown(token),
    )
  }

  endOfLine(): void {
    this.#skipBlanks()
    if (this.#at < this.#end) this.fail('the end of the line', this.#shown(this.#token()))
  }

  #skipBlanks(): void {
    while (this.#at < this.#end && isBlank(this.#bytes[this.#at])) this.#at++
  }

  #token(): string {
    let token = ''
    while (this.#at < this.#end && !isBlank(this.#bytes[this.#at]))
      token += String.fromCharCode(this.#bytes[this.#at++])
    return token
  }

  #shown(token: string): string {
    return token === '' ? 'the end of the line' : `'${token.slice(0, 40)}'`
  }
}

/** Space, tab, carriage return, vertical tab, form feed. */
function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13 || byte === 11 || byte === 12
}
