import type { CommContext } from '../../messages/process/comm-context.js'
import type { CommTable } from './distributed-table.js'
import type { ProcessTable } from './process-table.js'
import type { LocalRankTable } from './rank-table.js'

/** A communicator in one process with its tables, as splits and survivors see it. */
export interface TableContext extends CommContext {
  readonly table: CommTable
  readonly processes: ProcessTable
  readonly wholeTable: LocalRankTable

  place(): Promise<LocalRankTable>
}
