import type { Level, Provenance } from '../machine/profile.js'
import type { AppliedMapping } from '../neighborhood/choose/mapped-topology.js'

/**
 * What strategies of a neighbor allgather cost on a machine. Messages and bytes are counted from schedules,
 * times on the machine are simulated, planning is measured on the computer that made the study, and what a
 * fabric took is in {@link Measurements} alone.
 */
export interface Study {
  readonly subject: Subject
  /** Lengths of a block that were simulated, ascending. */
  readonly bytes: readonly number[]
  /** In the order in which they were studied, direct sends first. */
  readonly strategies: readonly StudiedStrategy[]
  readonly leftOut: readonly LeftOut[]
  /** Per length, the strategy that takes the least simulated time of those studied. */
  readonly fastest: readonly Fastest[]
  /** Per length; null where there are too many ranks. */
  readonly ordinaryAllgather: readonly OrdinaryAllgather[] | null
  /** Per length, how the fastest compares with others where costs are not those of the profile. */
  readonly sensitivity: readonly Sensitivity[]
  /** Null where no fabric was at hand. */
  readonly measurements: Measurements | null
  /** Of a topology whose vertices were mapped: all else is of mapped ranks. */
  readonly mapped?: StudiedMapping
}

/** What a mapping changes, with and without combining. */
export interface StudiedMapping {
  readonly mapping: AppliedMapping
  /** One per length of the study. */
  readonly ways: readonly FourWays[]
}

/** Combining is what `auto` chooses for the length; without it ranks send directly. */
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
  /** Simulated, until the last rank is done. */
  readonly timeUs: number
  readonly messages: number
  /** Of these. */
  readonly betweenNodes: number
}

export interface Subject {
  readonly topology: string
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
  /** Of a matrix: what a block of a product with it is long; null for other topologies. */
  readonly product: ProductBlock | null
  /** Why the times say less than they seem to, such as more cores per node than the profile describes. */
  readonly remark: string | null
}

/** Blocks of the row exchange of a sparse product. */
export interface ProductBlock {
  /** Of B, of the rank that has most. */
  readonly rows: number
  /** Columns of B per exchange, as an example. */
  readonly columns: number
  /** Of the longest block, for columns of doubles. */
  readonly bytes: number
}

export interface StudiedStrategy {
  /** As `parseStrategy` reads it. */
  readonly strategy: string
  readonly messages: StudiedMessages
  /** Blocks that messages carry, by how far they go: times the length of a block, the bytes. */
  readonly blocks: Readonly<Record<Level, number>>
  /** One per length of the study. */
  readonly simulated: readonly SimulatedTime[]
  /** Measured on the computer that made the study, once, or the least of three where it is below 0.1 s. */
  readonly planMs: number
}

export interface StudiedMessages {
  readonly all: number
  readonly meanPerRank: number
  readonly maxPerRank: number
  readonly betweenNodes: number
}

export interface SimulatedTime {
  readonly bytes: number
  /** Simulated, until the last rank is done. */
  readonly timeUs: number
  /** Payload of the messages by how far they go. */
  readonly bytesByLevel: Readonly<Record<Level, number>>
  /** Simulated time of direct sends divided by that of this strategy. */
  readonly speedup: number
  /**
   * Starts after which planning, measured here, has cost no more time than starts save, simulated, against
   * direct sends; null: never. From the unrounded `planMs`, since short planning is repeated; `Alternative`
   * has a bound where it ran once.
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
  /** Simulated. */
  readonly timeUs: number
  /** Compared with direct sends, simulated. */
  readonly speedup: number
  /** Compared with an ordinary allgather, simulated; null where there are too many ranks. */
  readonly speedupOverAllgather: number | null
  /** Of this strategy, as in {@link SimulatedTime}. */
  readonly breakEvenStarts: number | null
  /** What `auto` chooses for this length; null where the strategies were given. */
  readonly auto: string | null
}

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
  /** With which it is compared. */
  readonly others: readonly string[]
  readonly variations: readonly Variation[]
}

export interface Variation {
  readonly cost: (typeof varied)[number]
  /** 0.5 or 2. */
  readonly factor: number
  /** Simulated time of the strategy divided by that of the fastest of those compared: at least 1. */
  readonly ratio: number
}

/** What a fabric took on this computer. */
export interface Measurements {
  readonly fabric: string
  readonly processes: number
  /** The processor, as the operating system names it, and how many of them. */
  readonly processor: string
  readonly processors: number
  /** Runs of every strategy and length, in turns. */
  readonly runs: number
  /** Lengths that were measured, ascending. */
  readonly bytes: readonly number[]
  /** Lengths whose receive buffers would take too much memory. */
  readonly tooLong: readonly number[]
  readonly strategies: readonly MeasuredStrategy[]
}

export interface MeasuredStrategy {
  readonly strategy: string
  /** One per length. */
  readonly times: readonly MeasuredTime[]
}

export interface MeasuredTime {
  readonly bytes: number
  /** Of one start on rank 0, over the runs. */
  readonly medianUs: number
  readonly minUs: number
  readonly maxUs: number
}
