import type { DistributedTable } from './distributed-table.js'
import type { LocalRankTable } from './rank-table.js'

/** The table of a communicator: wholly here, or spread over its processes. */
export type CommTable = LocalRankTable | DistributedTable
