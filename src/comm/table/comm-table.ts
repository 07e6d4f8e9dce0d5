import type { DistributedTable } from './distributed-table.js'
import type { LocalRankTable } from './rank-table.js'

/** The table of a communicator: all of it here, or distributed over its processes. */
export type CommTable = LocalRankTable | DistributedTable
