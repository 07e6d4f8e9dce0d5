import { inspect } from 'node:util'

/**
 * Returns a value that JSON can represent. Typed arrays and sets become lists, maps lists of pairs, 64-bit integers
 * decimal strings. Values without a JSON form (NaN, infinities, functions) become their text. Circular references are
 * cut.
 */
export function plainValue(value: unknown, above: readonly object[] = []): unknown {
  switch (typeof value) {
    case 'undefined':
      return null
    case 'bigint':
    case 'function':
    case 'symbol':
      return String(value)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'object':
      break
    default:
      return value
  }
  if (value === null) return null
  if (above.includes(value)) return '[circular]'
  const inside = [...above, value]
  const plain = (item: unknown) => plainValue(item, inside)
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value as unknown as Iterable<unknown>, plain)
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) return Array.from(value, plain)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Error) return { name: value.name, message: value.message }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

/** The number of results listed in text; --json lists all. */
const shownResults = 32

/** Returns lines with the results of consecutive ranks, except undefined and null. */
export function resultLines(results: readonly unknown[], firstRank = 0): readonly string[] {
  const lines: string[] = []
  let more = 0
  for (const [index, result] of results.entries()) {
    if (result === undefined || result === null) continue
    if (lines.length < shownResults)
      lines.push(`rank ${firstRank + index} returned ${inspect(result, compact)}`)
    else more++
  }
  return more === 0 ? lines : [...lines, `... and ${more} more; --json lists all`]
}

const compact = { breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 8, maxStringLength: 1000 }
