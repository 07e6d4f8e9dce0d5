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
export function originOf(address: string | undefined): string | undefined {
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
