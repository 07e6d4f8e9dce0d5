import { quantile } from '../base/search.js'
import type { Level, Provenance } from '../machine/profile.js'
import type { AppliedMapping } from '../neighborhood/choose/mapped-topology.js'
import type { NeighborCollective } from '../schedule/specification.js'

/**
 * The costs of strategies of a neighborhood collective on a machine. Messages and bytes are counted from schedules, and
 * times on the machine are simulated. Planning is measured on the computer that made the study. Only {@link
 * Measurements} has times on a fabric.
 */
export interface Study {
  readonly subject: Subject
  /** The lengths of a block that were simulated, ascending. */
  readonly bytes: readonly number[]
  /** The strategies in the order in which they were studied, direct sends first. */
  readonly strategies: readonly StudiedStrategy[]
  readonly leftOut: readonly LeftOut[]
  /** The studied strategy with the least simulated time, per length. */
  readonly fastest: readonly Fastest[]
  /** The study in a sentence. */
  readonly verdict: string
  /** The ordinary allgathers per length; null if there are too many ranks, and for other operations. */
  readonly ordinaryAllgather: readonly OrdinaryAllgather[] | null
  /** The comparisons of the fastest with others under changed costs, per length. */
  readonly sensitivity: readonly Sensitivity[]
  /** The times on a fabric; null if none was measured. */
  readonly measurements: Measurements | null
  /** The mapping of a topology's vertices; all other fields are about mapped ranks. */
  readonly mapped?: StudiedMapping
}

/** The effect of a mapping, with and without combining. */
export interface StudiedMapping {
  readonly mapping: AppliedMapping
  /** The ways, one entry per length of the study. */
  readonly ways: readonly FourWays[]
}

/** Times of mapping and combining, each alone and together. Combining is the choice of `auto` for the length. */
export interface FourWays {
  readonly bytes: number
  /** Direct sends, rank v being vertex v. */
  readonly neither: Way
  /** Direct sends of mapped ranks. */
  readonly mapping: Way
  /** Combining, rank v being vertex v. */
  readonly combining: Way
  readonly both: Way
}

/** A strategy for one length. */
export interface Way {
  readonly strategy: string
  /** The simulated time until the last rank is done. */
  readonly timeUs: number
  readonly messages: number
  /** The number of these messages between nodes. */
  readonly betweenNodes: number
}

export interface Subject {
  readonly topology: string
  readonly operation: NeighborCollective
  /** The lengths among those of the study that a program was recorded to use. */
  readonly recordedBytes: readonly number[]
  readonly ranks: number
  readonly edges: number
  readonly degree: { readonly min: number; readonly mean: number; readonly max: number }
  readonly machine: string
  readonly nodes: number
  readonly profile: {
    readonly name: string
    readonly source: string
    readonly provenance: Provenance
    /** The name, with the provenance of its costs and of those that differ. */
    readonly origin: string
  }
  /** The block of a product with the matrix; null for a topology without a matrix. */
  readonly product: ProductBlock | null
  /**
   * The reason why the times are less certain than they look, such as more cores per node than the profile describes.
   */
  readonly remark: string | null
}

/** The blocks of the row exchange of a sparse product. */
export interface ProductBlock {
  /** The rows of B of the rank that has most. */
  readonly rows: number
  /** The columns of B per exchange, as an example. */
  readonly columns: number
  /** The length of the longest block, for columns of doubles. */
  readonly bytes: number
}

export interface StudiedStrategy {
  /** The text that `parseStrategy` reads. */
  readonly strategy: string
  readonly messages: StudiedMessages
  /** The number of blocks that messages carry, by level. Times the length of a block, these are the bytes. */
  readonly blocks: Readonly<Record<Level, number>>
  /** The simulated times, one per length of the study. */
  readonly simulated: readonly SimulatedTime[]
  /**
   * The planning time on the computer that made the study: measured once, or the least of three if it is below 0.1 s.
   */
  readonly planMs: number
}

interface StudiedMessages {
  readonly all: number
  readonly meanPerRank: number
  readonly maxPerRank: number
  readonly betweenNodes: number
}

export interface SimulatedTime {
  readonly bytes: number
  /** The simulated time until the last rank is done. */
  readonly timeUs: number
  /** The payload of the messages, by level. */
  readonly bytesByLevel: Readonly<Record<Level, number>>
  /** The simulated time of direct sends divided by that of this strategy. */
  readonly speedup: number
  /**
   * The number of starts to break even: choosing and planning, measured here, have then cost no more time than starts
   * save, simulated, compared with direct sends; null: never. It follows from the unrounded `planMs`, since short
   * planning is repeated; `Alternative` has a bound if planning ran once.
   */
  readonly breakEvenStarts: number | null
}

export interface LeftOut {
  readonly strategy: string
  readonly reason: string
}

export interface Fastest {
  readonly bytes: number
  readonly strategy: string
  readonly timeUs: number
  /** The speedup over direct sends, simulated. */
  readonly speedup: number
  /** The speedup over an ordinary allgather, simulated; null without {@link Study.ordinaryAllgather}. */
  readonly speedupOverAllgather: number | null
  /** The starts of this strategy to break even, as in {@link SimulatedTime}. */
  readonly breakEvenStarts: number | null
  /** The choice of `auto` for this length; null if the strategies were given. */
  readonly auto: string | null
  /** The time in which `auto` chooses for this length, measured like planning; 0 if the strategies were given. */
  readonly choiceMs: number
  readonly inProgram: InProgram
  /** The fastest of those that the preloaded library runs in an MPI program; null if none of those studied. */
  readonly runnable: RunnableStrategy | null
}

/** A strategy that an unmodified MPI program can have. */
export interface RunnableStrategy {
  readonly strategy: string
  /** The speedup over direct sends, simulated. */
  readonly speedup: number
  readonly inProgram: InProgram
}

/** The way in which the preloaded library runs a strategy in an unmodified MPI program. */
export type InProgram = 'as MPI does' | 'by itself' | 'by a plan file' | 'no'

/** The bytes of the longest block that the preloaded library carries by a plan, unless RANKWEAVE_SHIM_BLOCK_LIMIT is set. */
export const longestCarried = 1024

/** Returns how the preloaded library runs a strategy. By itself it plans two kinds, and none if ranks share one node. */
export function inProgram({ operation, nodes }: Subject, strategy: string, bytes: number): InProgram {
  if (strategy === 'direct') return 'as MPI does'
  if (bytes > longestCarried || operation === 'neighbor-reduce') return 'no'
  if (nodes > 1 && /^(routed|hierarchical):/.test(strategy)) return 'by itself'
  return operation === 'neighbor-allgather' ? 'by a plan file' : 'no'
}

/** The speedup below which a strategy counts as no faster than direct sends. */
const leastGain = 1.01

/** Whether the fastest strategy is hardly faster than direct sends. */
export const hasNoGain = ({ speedup }: Fastest): boolean => speedup < leastGain

/** An allgather of all blocks to all ranks, by the algorithm that takes the least simulated time. */
export interface OrdinaryAllgather {
  readonly bytes: number
  readonly algorithm: string
  readonly timeUs: number
}

/** The costs that are halved and doubled. `overhead` is that of both ends. */
export const varied = ['latency', 'overhead', 'bandwidth'] as const

export interface Sensitivity {
  readonly bytes: number
  /** The fastest of those studied with the costs of the profile. */
  readonly strategy: string
  /** The strategies with which it is compared. */
  readonly others: readonly string[]
  readonly variations: readonly Variation[]
}

export interface Variation {
  readonly cost: (typeof varied)[number]
  /** The factor, 0.5 or 2. */
  readonly factor: number
  /** The simulated time of the strategy divided by that of the fastest of those compared: at least 1. */
  readonly ratio: number
}

/** The times of a fabric on this computer. */
export interface Measurements {
  readonly fabric: string
  readonly processes: number
  /** The processor, as the operating system names it; below, the number of processors. */
  readonly processor: string
  readonly processors: number
  /** The number of runs of every strategy and length, in turns. */
  readonly runs: number
  /** The lengths that were measured, ascending. */
  readonly bytes: readonly number[]
  /** The lengths whose receive buffers would take too much memory. */
  readonly tooLong: readonly number[]
  readonly strategies: readonly MeasuredStrategy[]
}

interface MeasuredStrategy {
  readonly strategy: string
  /** The times, one per length. */
  readonly times: readonly MeasuredTime[]
}

interface MeasuredTime {
  readonly bytes: number
  /** The median time of one start on rank 0, over the runs. */
  readonly medianUs: number
  readonly minUs: number
  readonly maxUs: number
}

/** The times of one start in microseconds, by run. */
export interface MeasuredRuns {
  readonly strategy: string
  readonly bytes: number
  readonly microseconds: readonly number[]
}

/** The most memory for receive buffers of all ranks; the exchange itself takes as much again. */
const mostReceivedBytes = 2 ** 28

/**
 * Returns the lengths that can be measured: those whose blocks fit in {@link mostReceivedBytes}, one block per edge.
 */
export function measurableLengths(
  edges: number,
  bytes: readonly number[],
): { readonly bytes: readonly number[]; readonly tooLong: readonly number[] } {
  const fits = (length: number) => edges * length <= mostReceivedBytes
  return { bytes: bytes.filter(fits), tooLong: bytes.filter((length) => !fits(length)) }
}

/** Returns the runs of a fabric as part of a study: median, shortest and longest of each strategy and length. */
export function measurementsOf(
  runs: readonly MeasuredRuns[],
  place: Omit<Measurements, 'strategies'>,
): Measurements {
  const byStrategy = new Map<string, MeasuredTime[]>()
  for (const { strategy, bytes, microseconds } of runs) {
    const times = byStrategy.get(strategy) ?? []
    times.push({ bytes, ...spreadOf(microseconds) })
    byStrategy.set(strategy, times)
  }
  const strategies = [...byStrategy].map(([strategy, times]): MeasuredStrategy => ({ strategy, times }))
  return { ...place, strategies }
}

function spreadOf(values: readonly number[]): Omit<MeasuredTime, 'bytes'> {
  const sorted = values.toSorted((a, b) => a - b)
  return { medianUs: quantile(sorted, 0.5), minUs: sorted[0], maxUs: sorted[sorted.length - 1] }
}
