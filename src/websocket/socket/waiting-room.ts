import { originOf } from './address-shares.js'

/**
 * A room for guests that have not yet shown what they are. If there are too many, the address that has most of them
 * loses its oldest. So the newest always get in, and one address does not crowd out others. All of loopback counts as
 * one address. Memory: an entry for each of `most`.
 */
export class WaitingRoom<T> {
  readonly #most: number
  /** The addresses of the guests, the oldest guest first. */
  readonly #addresses = new Map<T, string>()
  /** The number of guests of each address. */
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** The guests, the oldest first. */
  get all(): T[] {
    return [...this.#addresses.keys()]
  }

  has(guest: T): boolean {
    return this.#addresses.has(guest)
  }

  /** Admits a guest, and returns the one that loses its place if the room is full; undefined otherwise. */
  enter(guest: T, remote?: string): T | undefined {
    const address = originOf(remote) ?? ''
    this.#addresses.set(guest, address)
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
    if (this.#addresses.size <= this.#most) return undefined
    const displaced = this.#oldestOfMost()
    this.leave(displaced)
    return displaced
  }

  /** Removes a guest; false if it was not here. */
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
