import { shown } from '../errors.js'

/**
 * The costs of messages of one level by their length, in the terms of PLogP (Kielmann et al. 2000), nanoseconds.
 *
 * A message of m bytes takes `L + g(m)` from the start of the send to its reception. It occupies the sender for
 * `o_s(m)` and the receiver for `o_r(m)`; the sender starts the next one `g(m)` later. Values are linear between
 * neighboring lengths, constant before the first and continued along the last interval beyond the last.
 */
export interface MessageTables {
  /** The latency L, the remainder after g, so it may be below zero. */
  readonly latencyNs: number
  /** The lengths, ascending from 0 or more; 1 to 1,024 of them. */
  readonly sizesBytes: readonly number[]
  /** The gaps g(m), at each of `sizesBytes`, as the two below. */
  readonly gapNs: readonly number[]
  /** The overheads o_s(m) of the sender. */
  readonly sendOverheadNs: readonly number[]
  /** The overheads o_r(m) of the receiver. */
  readonly receiveOverheadNs: readonly number[]
}

export const tableKeys = ['gapNs', 'sendOverheadNs', 'receiveOverheadNs'] as const

export const tableLimits = { sizes: 1024, bytes: 2 ** 40, costNs: 1e15 } as const

/**
 * Returns a description of the first invalid value of tables: the member, the expected and the actual value. Returns
 * null for valid ones.
 */
export function tablesFault(tables: MessageTables): string | null {
  const { sizes: most, bytes, costNs } = tableLimits
  const { latencyNs, sizesBytes } = Object(tables) as MessageTables
  if (!(Number.isFinite(latencyNs) && Math.abs(latencyNs) <= costNs))
    return `latencyNs: expected a number from -${costNs} to ${costNs}, got ${shown(latencyNs)}`
  if (!Array.isArray(sizesBytes) || sizesBytes.length === 0 || sizesBytes.length > most)
    return `sizesBytes: expected a list of 1 to ${most} lengths, got ${lengthOf(sizesBytes)}`
  for (const [i, size] of sizesBytes.entries())
    if (!(Number.isInteger(size) && size >= 0 && size <= bytes && (i === 0 || size > sizesBytes[i - 1])))
      return `sizesBytes: expected integers that ascend from 0 to ${bytes}, got ${shown(size)} at ${i}`
  for (const key of tableKeys) {
    const values: unknown = tables[key]
    if (!Array.isArray(values) || values.length !== sizesBytes.length)
      return `${key}: expected a list with a value for each of ${sizesBytes.length} lengths, got ${lengthOf(values)}`
    for (const [i, value] of values.entries())
      if (!(Number.isFinite(value) && value >= 0 && value <= costNs))
        return `${key}: expected numbers from 0 to ${costNs}, got ${shown(value)} at ${i}`
  }
  return null
}

function lengthOf(list: unknown): string {
  return Array.isArray(list) ? `one of ${list.length}` : shown(list)
}
