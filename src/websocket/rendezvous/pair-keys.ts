import { randomBytes, toHex } from '../protocol/secrets.js'

const keyBytes = 32

/**
 * Draws a key for each pair of processes that can have a data connection, so that a process can prove only its own
 * identity. Memory: 64 bytes for each pair, until the caller drops the result.
 *
 * @param addresses where each process is dialed; null: it has no data connection
 * @returns for a process its keys with all others, in hexadecimal digits; null if there is no connection
 */
export function drawPairKeys(addresses: readonly (string | null)[]): (process: number) => (string | null)[] {
  // The keys are stored by the higher process of a pair, then by the lower.
  const keys = addresses.map((address, higher) =>
    toHex(randomBytes(address === null ? 0 : higher * keyBytes)),
  )
  return (process) =>
    addresses.map((address, peer) => {
      if (peer === process || address === null || addresses[process] === null) return null
      const at = Math.min(peer, process) * keyBytes * 2
      return keys[Math.max(peer, process)].slice(at, at + keyBytes * 2)
    })
}
