export interface Reader {
  /** The number of bytes that it has not read. */
  readonly unreadBytes: number
  /** Ends its socket at once. */
  cutOff(reason: string): void
}

/**
 * The unread bytes of the clients of all sockets together. If they are too many, the clients that have read least are
 * cut off, until an eighth of the bound is free. Memory: an entry for each client that has been sent something.
 */
export class UnreadOfAll {
  readonly #mostBytes: number
  /** The unread bytes when the client was last sent something. */
  readonly #bytes = new Map<Reader, number>()
  #total = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Notes that a client has been sent something. */
  sent(reader: Reader): void {
    this.#note(reader, reader.unreadBytes)
    if (this.#total <= this.#mostBytes) return
    // Some clients have read meanwhile.
    for (const each of this.#bytes.keys()) this.#note(each, each.unreadBytes)
    if (this.#total <= this.#mostBytes) return
    const behind = [...this.#bytes].sort(([, a], [, b]) => b - a)
    for (const [each] of behind) {
      if (this.#total <= (this.#mostBytes / 8) * 7) return
      this.forget(each)
      each.cutOff(`it does not read, and all clients together have not read ${this.#mostBytes} bytes`)
    }
  }

  /** Forgets a client whose socket has closed. */
  forget(reader: Reader): void {
    this.#note(reader, 0)
    this.#bytes.delete(reader)
  }

  #note(reader: Reader, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(reader) ?? 0)
    this.#bytes.set(reader, bytes)
  }
}
