import { empty, type TermTable } from './term-table.js'

/** The most ranges that a message lists; further ones are only counted. */
const mostRanges = 8

/** Returns for example `block 7`, or `a partial result of part 1 over ranks 0-2, 4`. */
export function describeTerm(terms: TermTable, term: number): string {
  if (term === empty) return 'nothing'
  if (term >= 0) return `block ${term}`
  const what = `a partial result of part ${terms.partOf(term)}`
  return terms.isUnknown(term) ? what : `${what} over ${formatRanks(contributorsOf(terms, term).keys())}`
}

/** Yields the blocks of a term from left to right; no operand in it may be unknown. */
export function* blocksOf(terms: TermTable, term: number): Generator<number> {
  const pending = [term]
  while (pending.length > 0) {
    const next = pending.pop()!
    if (next >= 0) yield next
    else pending.push(terms.rightOf(next), terms.leftOf(next))
  }
}

/**
 * Counts how often each rank contributes to a term. Time and memory are proportional to the different combinations in
 * it. Counts above 2^53 are rounded.
 */
export function contributorsOf(terms: TermTable, term: number): Map<number, number> {
  const ranks = new Map<number, number>()
  // Operands have lower numbers than their combinations, so the counts of the first in this order are complete.
  const times = new Map<number, number>([[term, 1]])
  const pending = reached(terms, term)
  for (const combination of pending) {
    const count = times.get(combination)!
    if (terms.isUnknown(combination)) continue
    for (const operand of [terms.leftOf(combination), terms.rightOf(combination)]) {
      if (operand < 0) times.set(operand, (times.get(operand) ?? 0) + count)
      else addTo(ranks, terms.parts.originOf(operand), count)
    }
  }
  if (term >= 0) addTo(ranks, terms.parts.originOf(term), 1)
  return ranks
}

/** Lists the combinations in a term, each before its operands. */
export function reached(terms: TermTable, term: number): Int32Array {
  const seen = new Set<number>()
  const pending = term < 0 ? [term] : []
  while (pending.length > 0) {
    const combination = pending.pop()!
    if (seen.has(combination)) continue
    seen.add(combination)
    if (terms.isUnknown(combination)) continue
    for (const operand of [terms.leftOf(combination), terms.rightOf(combination)]) {
      if (operand < 0) pending.push(operand)
    }
  }
  return Int32Array.from(seen).sort() // ~i ascends as i descends
}

function addTo(counts: Map<number, number>, key: number, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

/** Returns for example `ranks 0-2, 4`. */
export function formatRanks(ranks: Iterable<number>): string {
  const ascending = Int32Array.from(ranks).sort()
  const ranges = rangesOf(ascending)
  const shown = ranges.slice(0, mostRanges).join(', ')
  const rest = ranges.length > mostRanges ? `, ... ${ascending.length} in all` : ''
  return `${ascending.length === 1 ? 'rank' : 'ranks'} ${shown}${rest}`
}

function rangesOf(ascending: Int32Array): string[] {
  const ranges: string[] = []
  for (let i = 0; i < ascending.length; ) {
    let end = i + 1
    while (end < ascending.length && ascending[end] === ascending[i] + end - i) end++
    ranges.push(end - i === 1 ? `${ascending[i]}` : `${ascending[i]}-${ascending[end - 1]}`)
    i = end
  }
  return ranges
}
