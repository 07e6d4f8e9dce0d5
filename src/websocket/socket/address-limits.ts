/**
 * Counts shares by address. Loopback, and an unknown address, have no limit. Memory: an entry per address that has any.
 */
export class AddressShares {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Takes a share of `address`; false, and not counted, when it has as many as it may. */
  take(address: string | undefined): boolean {
    const origin = originOf(address)
    if (origin === undefined) return true
    const count = this.#counts.get(origin) ?? 0
    if (count >= this.#most) return false
    this.#counts.set(origin, count + 1)
    return true
  }

  /** Returns a share that was taken. */
  give(address: string | undefined): void {
    const origin = originOf(address)
    if (origin === undefined) return
    const count = this.#counts.get(origin)! - 1
    if (count === 0) this.#counts.delete(origin)
    else this.#counts.set(origin, count)
  }
}

/**
 * Returns the unit that counts as one address: all of IPv4; of IPv6 the first 64 bits, because a host may use any
 * address of its network. Undefined for loopback and for texts that are not addresses.
 */
function originOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (v4 !== undefined) return v4.startsWith('127.') ? undefined : v4
  if (!address.includes(':') || address === '::1') return undefined
  const [head = '', tail] = address.split('%')[0].split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0')
  return [...groups, ...after].slice(0, 4).join(':').toLowerCase()
}

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
