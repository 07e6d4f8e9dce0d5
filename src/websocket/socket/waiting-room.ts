import { originOf } from './address-shares.js'

/**
 * What has come and has not yet shown what it is. When there are too many, the address that has most of them
 * loses its oldest: the newest always get in, and one address does not crowd out others. All of loopback
 * counts as one address.
 *
 * Memory: an entry for each of `most`.
 */
export class WaitingRoom<T> {
  readonly #most: number
  /** The oldest first. */
  readonly #addresses = new Map<T, string>()
  /** How many of each address. */
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** The oldest first. */
  get all(): T[] {
    return [...this.#addresses.keys()]
  }

  has(guest: T): boolean {
    return this.#addresses.has(guest)
  }

  /** Returns the guest that loses its place when the room is full; undefined when it is not. */
  enter(guest: T, remote?: string): T | undefined {
    const address = originOf(remote) ?? ''
    this.#addresses.set(guest, address)
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
    if (this.#addresses.size <= this.#most) return undefined
    const displaced = this.#oldestOfMost()
    this.leave(displaced)
    return displaced
  }

  /** False when it was not here. */
  leave(guest: T): boolean {
    const address = this.#addresses.get(guest)
    if (address === undefined) return false
    this.#addresses.delete(guest)
    const count = this.#counts.get(address)! - 1
    if (count === 0) this.#counts.delete(address)
    else this.#counts.set(address, count)
    return true
  }

  #oldestOfMost(): T {
    let most = 0
    for (const count of this.#counts.values()) if (count > most) most = count
    for (const [guest, address] of this.#addresses) if (this.#counts.get(address) === most) return guest
    throw new Error('the room is empty')
  }
}
