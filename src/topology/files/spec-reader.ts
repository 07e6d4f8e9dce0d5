import { RankweaveError, shortened, shown } from '../../errors.js'

/** A part of the text, and where it begins. */
export interface Word {
  readonly word: string
  readonly at: number
}

/**
 * Reads the parts of a topology's text between colons from left to right.
 * @throws ERR_SPEC with the character
 */
export class SpecReader {
  readonly #text: string
  #at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  fail(expected: string, at = this.#at): never {
    const rest = this.#text.slice(at)
    throw new RankweaveError(
      'ERR_SPEC',
      `topology ${shown(this.#text)}, character ${at + 1}: expected ${expected}, got ${rest === '' ? 'the end' : shown(rest)}`,
      { details: { text: shortened(this.#text), at } },
    )
  }

  #peek(): Word | null {
    if (this.#at > this.#text.length) return null
    const colon = this.#text.indexOf(':', this.#at)
    return { word: this.#text.slice(this.#at, colon < 0 ? undefined : colon), at: this.#at }
  }

  #skip({ word }: Word): void {
    this.#at += word.length + 1
  }

  next(expected: string): Word {
    const next = this.#peek()
    if (next === null || next.word === '') return this.fail(expected)
    this.#skip(next)
    return next
  }

  /** Reads the value of `key=value` if that is next. */
  option(key: string): Word | null {
    const next = this.#peek()
    if (next === null || !next.word.startsWith(`${key}=`)) return null
    this.#skip(next)
    return { word: next.word.slice(key.length + 1), at: next.at + key.length + 1 }
  }

  flag(name: string): boolean {
    const next = this.#peek()
    if (next?.word !== name) return false
    this.#skip(next)
    return true
  }

  end(expected: string): void {
    if (this.#at <= this.#text.length) this.fail(expected)
  }

  extents(): number[] {
    const { word, at } = this.next("extents such as '64x64'")
    if (!/^\d+(x\d+)*$/.test(word)) this.fail("extents such as '64x64'", at)
    return word.split('x').map((extent) => this.whole({ word: extent, at }, 1))
  }

  whole({ word, at }: Word, min: number): number {
    const value = /^\d+$/.test(word) ? Number(word) : Number.NaN
    if (!Number.isSafeInteger(value) || value < min) this.fail(`an integer of at least ${min}`, at)
    return value
  }

  fraction({ word, at }: Word): number {
    const value = /^[\d.]+(e[+-]?\d+)?$/i.test(word) ? Number(word) : Number.NaN
    if (!(value >= 0 && value <= 1)) this.fail('a number from 0 to 1', at)
    return value
  }

  periods({ word, at }: Word, dims: number): boolean[] {
    const flags = word.split(',')
    if (flags.length !== dims || flags.some((flag) => flag !== '0' && flag !== '1'))
      this.fail(`${dims} flags 0 or 1 such as '${new Array(dims).fill('1').join(',')}'`, at)
    return flags.map((flag) => flag === '1')
  }

  /** Reads the rest of the text, which must not be empty. */
  file(): string {
    const file = this.#text.slice(this.#at)
    if (file === '') this.fail('a file name')
    this.#at = this.#text.length + 1
    return file
  }

  /** Reads `:seed=SEED` at the end; returns 1 without it. */
  seed(): number {
    const seed = this.option('seed')
    this.end(seed === null ? "':seed=SEED' or the end" : 'the end')
    return seed === null ? 1 : this.whole(seed, 0)
  }

  /** Parses a decimal number, positive and finite. */
  positive({ word, at }: Word): number {
    const value = /^[\d.]+(e[+-]?\d+)?$/i.test(word) ? Number(word) : Number.NaN
    if (!(value > 0 && value < Infinity)) this.fail('a number above 0', at)
    return value
  }

  /** Parses numbers from 0 to 1 separated by commas. */
  fractions({ word, at }: Word, count: number): number[] {
    const parts = word.split(',')
    if (parts.length !== count) this.fail(`${count} numbers from 0 to 1 separated by commas`, at)
    let next = at
    return parts.map((part) => {
      const value = this.fraction({ word: part, at: next })
      next += part.length + 1
      return value
    })
  }

  /** Reads `:periodic`, `:open` or `:periods=1,0,...`, if one of them is next. */
  wrapping(dims: number): boolean[] | null {
    if (this.flag('periodic')) return new Array<boolean>(dims).fill(true)
    if (this.flag('open')) return new Array<boolean>(dims).fill(false)
    const some = this.option('periods')
    return some === null ? null : this.periods(some, dims)
  }

  /** Parses offsets such as `0,1/1,0`: one integer for each dimension. */
  offsets({ word, at }: Word, dims: number): number[][] {
    let next = at
    return word.split('/').map((part) => {
      const steps = part.split(',')
      if (steps.length !== dims || !steps.every((step) => /^-?\d{1,8}$/.test(step)))
        this.fail(`offsets of ${dims} integers such as '${new Array(dims).fill('1').join(',')}'`, next)
      next += part.length + 1
      return steps.map((step) => Number(step) + 0)
    })
  }
}
