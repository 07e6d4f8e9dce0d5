import type { LocalRankTable } from './rank-table.js'

/** Whether two tables hold the same world ranks, in the same order or at all. O(1) when both are strided. */
export function compareTables(a: LocalRankTable, b: LocalRankTable): 'ident' | 'similar' | 'unequal' {
  if (a === b) return 'ident'
  if (a.size !== b.size) return 'unequal'
  // Equal world ranks always give the same kind of table.
  if (a.kind === 'strided' && b.kind === 'strided') {
    if (a.size === 0 || (a.start === b.start && a.stride === b.stride)) return 'ident'
    return a.start === b.lookup(b.size - 1) && a.stride === -b.stride ? 'similar' : 'unequal'
  }
  let ident = true
  for (let rank = 0; rank < a.size && ident; rank++) ident = a.lookup(rank) === b.lookup(rank)
  if (ident) return 'ident'
  for (let rank = 0; rank < a.size; rank++) {
    if (b.find(a.lookup(rank)) < 0) return 'unequal'
  }
  return 'similar'
}
