import type { CommState } from './comm-state.js'
import type { CommTable } from './table/comm-table.js'
import { compareTables } from './table/compare-tables.js'
import type { Comparison } from './table/group.js'

export async function compare(a: CommState, b: CommState): Promise<Comparison> {
  if (a === b) return 'ident'
  if (sameRows(a.table, b.table)) return 'congruent'
  const ranks = compareTables(await a.place(), await b.place())
  return ranks === 'ident' ? 'congruent' : ranks
}

/** Whether two tables are the same part of one distributed table, as of a communicator and its dup. */
function sameRows(a: CommTable, b: CommTable): boolean {
  return a.kind === 'distributed' && b.kind === 'distributed' && a.slices === b.slices && a.start === b.start
}
