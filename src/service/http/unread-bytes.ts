import type { ServerResponse } from 'node:http'
import { RankweaveError } from '../../errors.js'

/** The bytes up to which answers do not count: a connection has one at a time. */
const shortBytes = 2 ** 16

/**
 * Bounds the answers that are whole in memory while clients have not read them, by tenant. A tenant has one of any
 * length, and more of them up to so many bytes together. Files are sent piece by piece and need no bound. Memory:
 * `most` bytes for each tenant, or its longest answer, and 64 KiB for each connection.
 */
export class UnreadBytes {
  readonly #most: number
  readonly #bytes = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Counts an answer until its connection has taken it, or has closed.
   * @throws ERR_BUSY beyond the bound
   */
  add(tenant: string, answer: ServerResponse, bytes: number): void {
    // If the client left while its answer was made, no other `close` event comes.
    if (bytes <= shortBytes || answer.destroyed) return
    const before = this.#bytes.get(tenant) ?? 0
    if (before > 0 && before + bytes > this.#most)
      throw new RankweaveError(
        'ERR_BUSY',
        `expected at most ${this.#most} bytes of answers that were not read (unreadBytes)`,
      )
    this.#bytes.set(tenant, before + bytes)
    answer.once('close', () => {
      const left = this.#bytes.get(tenant)! - bytes
      if (left === 0) this.#bytes.delete(tenant)
      else this.#bytes.set(tenant, left)
    })
  }
}
