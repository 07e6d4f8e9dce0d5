import { isRankweaveError, shortened, shown } from '../errors.js'
import { failMachine } from './profile-figures.js'

/** The value of a clause `key=value`, and its position. */
export interface Clause {
  readonly value: string
  readonly at: number
}

/**
 * A reader of `kind:key=value,key=value`, clauses in any order, each at most once.
 *
 * @throws ERR_MACHINE with the character
 */
export class ClauseReader {
  readonly kind: string
  readonly #text: string
  readonly #clauses = new Map<string, Clause>()

  constructor(text: string, kinds: readonly string[]) {
    this.#text = text
    const kind = kinds.find((name) => text.startsWith(`${name}:`))
    this.kind = kind ?? this.fail(kinds.map((name) => `'${name}:'`).join(', '), 0)
    let at = this.start
    if (at === text.length) return
    for (const clause of text.slice(at).split(',')) {
      const equals = clause.indexOf('=')
      if (equals <= 0) this.fail("a clause such as 'cores=40'", at)
      const key = clause.slice(0, equals)
      if (this.#clauses.has(key)) this.fail(`'${key}' once`, at)
      this.#clauses.set(key, { value: clause.slice(equals + 1), at: at + equals + 1 })
      at += clause.length + 1
    }
  }

  /** The position of the first clause. */
  get start(): number {
    return this.kind.length + 1
  }

  fail(expected: string, at = this.start): never {
    const got = at < this.#text.length ? shown(this.#text.slice(at)) : 'the end'
    return this.#failAt(`expected ${expected}, got ${got}`, at)
  }

  #failAt(reason: string, at: number): never {
    const text = shortened(this.#text)
    return failMachine(`machine '${text}', character ${at + 1}: ${reason}`, { text, at })
  }

  /** Returns the clause of that key and marks it as read. */
  take(key: string): Clause | null {
    const clause = this.peek(key)
    this.#clauses.delete(key)
    return clause
  }

  /** Returns the clause of that key without marking it as read. */
  peek(key: string): Clause | null {
    return this.#clauses.get(key) ?? null
  }

  /** Returns the result of `call`, whose errors are reported at that clause. */
  located<T>({ at }: Clause, call: () => T): T {
    try {
      return call()
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_MACHINE')) throw error
      return this.#failAt(error.message, at)
    }
  }

  whole({ value, at }: Clause, min: number, max: number): number {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max)) this.fail(`an integer from ${min} to ${max}`, at)
    return number
  }

  /** Fails at the first clause that was not taken. */
  end(): void {
    for (const [key, { at }] of this.#clauses) this.fail(`no clause '${key}'`, at - key.length - 1)
  }
}
