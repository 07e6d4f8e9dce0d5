import { soakSeed, tier } from '../soak.js'

/** What the ranks do when the fault strikes; each of them needs the process that fails. */
export const operations = [
  'send',
  'recv',
  'recv from ANY_SOURCE',
  'bulk send',
  'bulk recv',
  'barrier',
  'allreduce',
  'planned neighbor allgather',
  'split',
  'persistent allreduce',
  'reordering',
  'reordering in parts',
] as const
export type Operation = (typeof operations)[number] | 'bulk allreduce'

export type FaultyFabric = 'local' | 'threads' | 'websocket' | 'mpi'

export const faults = [
  'error thrown by a rank',
  'process lost',
  'worker exits',
  'worker terminated',
  'uncaught error',
  'out of memory',
  'process killed',
  'process stopped',
  'control connection lost',
  'data connections lost',
  'half-open connections',
  'half-open data connections',
  'truncated stream',
  'truncated messages',
  'repeated messages',
  'reordered messages',
  'slow reader',
  'over-credit',
  'detached array',
] as const
export type Fault = (typeof faults)[number]

/**
 * What becomes of a world of three processes, one rank on each, when the fault strikes the last one during
 * the operation.
 */
export interface FaultRow extends FaultOutcome {
  readonly fabric: FaultyFabric
  readonly fault: Fault
  readonly operation: Operation
  /** The process that the fault strikes. */
  readonly victim: Victim
}

/**
 * The last of three processes, or the first, which collectives and the end of the world must not depend on.
 */
export type Victim = 2 | 0

export interface FaultOutcome {
  /** How the operation fails at each survivor; null where it does not. */
  readonly code: string | null
  /** It may also succeed, at every rank. */
  readonly maySucceed?: boolean
  /** How operations fail that do not need the process; null where they continue. */
  readonly others: string | null
  /** Whether `shrink` returns the other ranks at the survivors, or all, or how it fails. */
  readonly shrink: 'survivors' | 'all' | string
  /** What `run` rejects with, or null when it resolves. On `mpi`: how the job ends. */
  readonly run: string | null
}

/** One process less: what needs it fails, the rest continues without it, and the world ends well. */
const lost: FaultOutcome = { code: 'ERR_PEER_LOST', others: null, shrink: 'survivors', run: null }
/** The world ends everywhere, with the error of the rank. */
const ended: FaultOutcome = {
  code: 'ERR_WORLD_ENDED',
  others: 'ERR_WORLD_ENDED',
  shrink: 'ERR_WORLD_ENDED',
  run: 'the error of the rank',
}
/** No survivor is told: its process is killed, too. */
export const jobKilled = 'the job is killed'
const killed: FaultOutcome = { code: jobKilled, others: jobKilled, shrink: jobKilled, run: jobKilled }
/** The array of a rank is gone: the collective fails everywhere, and nobody is lost. */
const refused: FaultOutcome = { code: 'ERR_TYPE', others: null, shrink: 'all', run: null }
const unharmed: FaultOutcome = { code: null, others: null, shrink: 'all', run: null }

type Outcomes = readonly (readonly [Fault, FaultOutcome, (readonly Operation[])?])[]

/**
 * Operations in which the process has several messages on the way at a time: in others nothing could
 * overtake.
 */
const streams: readonly Operation[] = ['recv', 'recv from ANY_SOURCE', 'bulk recv']

/** For faults that take long to notice. */
const someOperations: readonly Operation[] = ['recv', 'bulk send', 'allreduce']

/** Its array is read after the call has returned. */
const borrowing: readonly Operation[] = ['bulk allreduce']

/**
 * What strikes the first process too, on websocket: each of its fabric's own ways to notice a loss, once; and where others
 * wait for what it computes.
 */
const atFirst: readonly (readonly [Fault, Operation])[] = [
  ['process killed', 'allreduce'],
  ['process killed', 'recv from ANY_SOURCE'],
  ['data connections lost', 'split'],
  ['half-open data connections', 'barrier'],
  ['process killed', 'reordering'],
  ['process killed', 'reordering in parts'],
]

const outcomes: Readonly<Record<FaultyFabric, Outcomes>> = {
  local: [
    ['error thrown by a rank', ended],
    ['process lost', lost],
    ['detached array', refused, borrowing],
  ],
  threads: [
    ['error thrown by a rank', ended],
    ['worker exits', lost],
    ['worker terminated', lost],
    ['uncaught error', lost],
    ['out of memory', lost],
    ['detached array', refused, borrowing],
  ],
  websocket: [
    ['error thrown by a rank', ended],
    ['process killed', lost],
    ['process stopped', lost],
    ['out of memory', lost],
    ['control connection lost', lost],
    ['data connections lost', lost],
    ['half-open connections', lost],
    ['half-open data connections', lost, someOperations],
    ['truncated stream', lost],
    ['truncated messages', lost],
    ['repeated messages', lost],
    ['reordered messages', lost, streams],
    ['slow reader', unharmed],
    ['over-credit', lost],
    ['detached array', refused, borrowing],
  ],
  mpi: [
    ['error thrown by a rank', ended],
    ['process killed', killed],
    ['process stopped', { ...unharmed, shrink: 'ERR_AUTHORITY' }],
    ['out of memory', killed],
    // It succeeds where the array was read before it was transferred.
    ['detached array', { ...refused, shrink: 'ERR_AUTHORITY', maySucceed: true }, borrowing],
  ],
}

/** Every combination of fabric, fault and operation. */
export const faultRows: readonly FaultRow[] = [
  ...Object.entries(outcomes).flatMap(([fabric, list]) =>
    list.flatMap(([fault, outcome, during = operations]) =>
      during.map((operation) => rowOf(fabric as FaultyFabric, fault, operation, outcome)),
    ),
  ),
  ...atFirst.map(([fault, operation]) => ({
    ...rowOf('websocket', fault, operation, lost),
    victim: 0 as const,
  })),
]

function rowOf(fabric: FaultyFabric, fault: Fault, operation: Operation, outcome: FaultOutcome): FaultRow {
  return { fabric, fault, operation, victim: 2, ...outcome }
}

export const rowsOf = (fabric: FaultyFabric): FaultRow[] => faultRows.filter((row) => row.fabric === fabric)

/**
 * A quarter of the rows of a fabric in `npm run soak`, during other operations for each fault, and others for other commits;
 * all of them in `npm run soak:long`.
 */
export const quarterOf = (rows: readonly FaultRow[], nth = soakSeed): readonly FaultRow[] =>
  tier === 'long' ? rows : rows.filter((_, n) => (n + Math.floor(n / operations.length)) % 4 === nth % 4)
