import type { WaitOptions } from '../../base/abort.js'
import { integerOption, type OptionTable, signalOption, wordOption } from '../../base/option.js'
import { checkOptions, optionAgreement } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'

export const splitAlgorithms = ['conventional', 'merging', 'parallel-sort', 'sample-sort', 'minimal'] as const

/** The name of the algorithm by which the processes sort the colors and keys of all ranks. */
export type SplitAlgorithmName = (typeof splitAlgorithms)[number]

export interface SplitOptions extends WaitOptions {
  /**
   * The algorithm. `conventional`: every process gets all entries and sorts them. `merging`: the same, merged at every
   * stage. `parallel-sort`: blocks of processes merge, sorters exchange by exact splitters. `sample-sort`: by sampled
   * ones. `minimal`: every process stores only its own share. Default: `conventional`; `parallel-sort` if a distributed
   * table, sorters or a table group is requested.
   */
  readonly algorithm?: SplitAlgorithmName
  /** Whether every process stores the world ranks of its communicators, or a slice of the whole table. */
  readonly table?: 'replicated' | 'distributed'
  /** The sorters p of every group, 1 to the number of processes, of the two sorts. Default: all processes. */
  readonly sorters?: number
  /** The number of processes P' that share one distributed table. Default: as many as there are sorters. */
  readonly tableGroup?: number
  /** The most ranks of a communicator that stores its world ranks itself. Default: max(64, N / P'). */
  readonly selfHostRows?: number
  /** The number of world ranks that a process caches from look-ups in a distributed table. Default 1024. */
  readonly cacheRows?: number
  /**
   * The most bytes of tables per process; a split that needs more is rejected before anything is allocated. Default: no
   * limit.
   */
  readonly maxTableBytes?: number
}

/** The settings of one split. They are the same on all processes, since they depend only on what all ranks share. */
export type SplitPlan = Required<Omit<SplitOptions, 'maxTableBytes' | 'signal'>>

/** Returns the options for a communicator of so many processes. */
function optionsFor(processes: number) {
  return {
    algorithm: wordOption(splitAlgorithms, {
      help: 'how the processes sort the colors and keys of all ranks',
      computed: 'conventional; parallel-sort if a distributed table, sorters or a table group is requested',
      agreed: 'ranks',
    }),
    table: wordOption(['replicated', 'distributed'], {
      help: 'whether every process stores the whole rank table or a slice of it',
      computed: 'the one for which the algorithm is made',
      agreed: 'ranks',
    }),
    sorters: integerOption({
      ...{ least: 1, most: processes },
      help: 'processes p that sort together, at most all processes (parallel-sort, sample-sort)',
      computed: 'all processes',
      agreed: 'ranks',
    }),
    tableGroup: integerOption({
      ...{ least: 1, most: processes },
      help: "processes P' that share one distributed table, at most all processes",
      computed: 'as many as there are sorters',
      agreed: 'ranks',
    }),
    selfHostRows: integerOption({
      ...{ least: 0, most: 2 ** 31 - 1 },
      help: 'communicators of at most this many ranks store their world ranks themselves',
      computed: "max(64, N / P')",
      agreed: 'ranks',
    }),
    cacheRows: integerOption({
      ...{ least: 0, most: 2 ** 24 },
      help: 'world ranks that a process caches from look-ups in a distributed table',
      default: 1024,
      agreed: 'process',
    }),
    maxTableBytes: integerOption({
      least: 1,
      help: 'rejects a split that needs larger tables per process, before anything is sent',
      computed: 'no limit',
      agreed: 'process',
    }),
    signal: signalOption,
  } satisfies OptionTable<SplitOptions>
}

export const splitOptions = optionsFor(Number.MAX_SAFE_INTEGER)
export const splitAgreement = optionAgreement(splitOptions)

const leastSelfHostRows = 64

/**
 * Chooses from the options and the number of ranks and processes, which are the same on all ranks:
 *
 * - `conventional` with a replicated table, unless the options ask for a distributed table, sorters or a
 *   table group; then `parallel-sort` with a distributed one. Look-ups cost round trips, and below millions
 *   of ranks a whole table is small.
 * - Every process sorts (p = P), and all share one table (P' = p).
 * - With any table, a communicator whose world ranks form an arithmetic progression stores their closed form;
 *   with a distributed one, those of at most max(64, N / P') ranks, or wholly on one process, store their own
 *   rows.
 *
 * @throws ERR_ARGUMENT, ERR_TABLE_SIZE
 */
export function planSplit(ranks: number, processes: number, options: SplitOptions = {}): SplitPlan {
  const { cacheRows = splitOptions.cacheRows.default, maxTableBytes } = options
  const wantsParallel =
    options.table === 'distributed' || options.sorters !== undefined || options.tableGroup !== undefined
  const algorithm = options.algorithm ?? (wantsParallel ? 'parallel-sort' : 'conventional')
  const sorts = algorithm === 'parallel-sort' || algorithm === 'sample-sort'
  const table = options.table ?? (sorts || algorithm === 'minimal' ? 'distributed' : 'replicated')
  // Every process stores its own share, so all of them sort.
  const sorters = algorithm === 'minimal' ? processes : Math.min(options.sorters ?? processes, processes)
  const tableGroup = Math.min(options.tableGroup ?? sorters, processes)
  const selfHostRows = options.selfHostRows ?? Math.max(leastSelfHostRows, Math.ceil(ranks / tableGroup))
  const plan = { algorithm, table, sorters, tableGroup, selfHostRows, cacheRows }
  if (maxTableBytes !== undefined) requireRoom(plan, ranks, processes, maxTableBytes)
  return plan
}

/**
 * Checks the options of one rank.
 *
 * @throws ERR_ARGUMENT
 */
export function checkSplitOptions(options: SplitOptions | undefined, processes: number): void {
  if (options === undefined) return
  checkOptions('split', optionsFor(processes), options)
  const gathers = options.algorithm === 'conventional' || options.algorithm === 'merging'
  if (gathers && options.table === 'distributed') {
    const message = `split: algorithm ${options.algorithm} brings the whole table to every process, so expected table 'replicated', got 'distributed'`
    throw new RankweaveError('ERR_ARGUMENT', message)
  }
}

/**
 * Returns the most bytes of tables that a process retains after this split, if ranks are distributed evenly over
 * processes. They are the explicit rows of its own ranks and of small communicators, and its slice. Closed forms and
 * the cache of look-ups are not counted.
 */
export function tableBytes(plan: SplitPlan, ranks: number, processes: number): number {
  if (plan.table === 'replicated') return 4 * ranks
  const { sorters, tableGroup, selfHostRows } = plan
  const hosted = Math.ceil(ranks / processes)
  const slices = sliceCount(tableGroup, sorters, processes)
  const even = Math.ceil(ranks / slices)
  // Regular samples give slices of about twice a share at most, whose bounds are stored
  // (docs/split-algorithms.md#sample-sort).
  const isSampled = plan.algorithm === 'sample-sort' && slices >= sorters
  const slice = isSampled ? Math.min(ranks, 2 * even + sorters) : even
  return 4 * (slice + Math.min(selfHostRows, ranks) + hosted) + (isSampled ? 8 * (slices + 1) : 0)
}

function requireRoom(plan: SplitPlan, ranks: number, processes: number, maxTableBytes: number): void {
  const needed = tableBytes(plan, ranks, processes)
  if (needed <= maxTableBytes) return
  throw new RankweaveError(
    'ERR_TABLE_SIZE',
    `split: expected tables of at most ${maxTableBytes} bytes per process, a ${plan.table} table of ${ranks} ranks ` +
      `may take ${needed}; ${adviceOn(plan, ranks, processes, needed)}`,
    { details: { neededBytes: needed, maxTableBytes } },
  )
}

/** Returns options that would need less memory, if any. */
function adviceOn(plan: SplitPlan, ranks: number, processes: number, needed: number): string {
  const spread = {
    ...plan,
    table: 'distributed',
    sorters: processes,
    tableGroup: processes,
    selfHostRows: 0,
  } as const
  if (tableBytes(spread, ranks, processes) >= needed) return 'no table takes less on so many processes'
  return "a smaller selfHostRows, or a 'distributed' table over a larger tableGroup, takes less"
}

/**
 * The processes that sort together (docs/split-algorithms.md#sorters-and-columns), for any number n of processes and 1
 * <= p <= n sorters. Block b holds the processes [floor(b n / p), floor((b + 1) n / p)), q or q + 1 of them. Column j
 * holds the j-th member of every block: its p members sort together, and the q columns perform the same sort
 * redundantly. A (q+1)-th member is the **shadow** of the one before it: it contributes its rows to its block and is
 * sent the result.
 */
export interface SorterLayout {
  readonly sorters: number
  readonly columns: number
  readonly block: number
  /** The processes of this process's block: `blockStart` to `blockEnd - 1`. */
  readonly blockStart: number
  readonly blockEnd: number
  /** The column of this process; a shadow has the column of the process before it. */
  readonly column: number
  readonly isShadow: boolean
  /** The processes of the column, by block. */
  readonly members: Int32Array
  /** The next process if it is this one's shadow, otherwise -1. */
  readonly shadow: number
}

export function blockStart(block: number, processes: number, sorters: number): number {
  return Math.floor((block * processes) / sorters)
}

export function sorterBlockOf(process: number, processes: number, sorters: number): number {
  return Math.floor(((process + 1) * sorters - 1) / processes)
}

export function sorterLayout(me: number, processes: number, sorters: number): SorterLayout {
  const columns = Math.floor(processes / sorters)
  const block = sorterBlockOf(me, processes, sorters)
  const start = blockStart(block, processes, sorters)
  const end = blockStart(block + 1, processes, sorters)
  const isShadow = me - start === columns
  const column = isShadow ? columns - 1 : me - start
  const members = columnMembers(column, processes, sorters)
  const shadow = !isShadow && column === columns - 1 && me + 1 < end ? me + 1 : -1
  return { sorters, columns, block, blockStart: start, blockEnd: end, column, isShadow, members, shadow }
}

/** Returns the process of column `column` in every block. */
function columnMembers(column: number, processes: number, sorters: number): Int32Array {
  return Int32Array.from({ length: sorters }, (_, b) => blockStart(b, processes, sorters) + column)
}

/** Counts the shadows of the last column: blocks with one process more than there are columns. */
export function shadowsOf(processes: number, sorters: number): number {
  return processes - sorters * Math.floor(processes / sorters)
}

/**
 * Returns the number of columns whose sorters share one distributed table of about `tableGroup` slices, if those are
 * more than sorters.
 */
export function columnsPerTable(tableGroup: number, sorters: number, processes: number): number {
  return Math.min(Math.ceil(tableGroup / sorters), Math.floor(processes / sorters))
}

/**
 * Returns the number of slices of a distributed table: P', or, beyond the number of sorters, the next multiple of it
 * that processes have.
 */
function sliceCount(tableGroup: number, sorters: number, processes: number): number {
  return tableGroup <= sorters ? tableGroup : sorters * columnsPerTable(tableGroup, sorters, processes)
}
