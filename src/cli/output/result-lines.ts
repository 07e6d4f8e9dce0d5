import { inspect } from 'node:util'

/** Results listed in text; --json lists all. */
const shownResults = 32

/** Results of consecutive ranks, except undefined and null. */
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
