import type { NamedOptions } from '../../base/option.js'
import type { Collective, Specification } from '../../schedule/specification.js'
import type { ParticipantGrid } from './participant-grid.js'
import type { RankOperations } from './rank-operations.js'

/**
 * The shape for which an algorithm is planned. It does not include lengths of blocks, which are bound when a schedule
 * runs.
 */
export interface Shape {
  /** The number of participants, which are the ranks of the schedule. */
  readonly ranks: number
  /** The root of a rooted collective. Default 0. */
  readonly root?: number
  /**
   * The number of segments into which every unit of data is cut, to be sent one after the other. Default: the sections
   * of the algorithm, mostly 1.
   */
  readonly segments?: number
  /**
   * The first rank of every participant, if participants are runs of consecutive ranks, and the number of ranks: length
   * `ranks + 1`, ascending. It only affects the order in which floating-point numbers are combined. Default: one rank
   * each.
   */
  readonly firstRank?: Int32Array
  /** The places of the participants in a network. Default: a row in their order. */
  readonly grid?: ParticipantGrid
}

/**
 * The order in which contributions are combined; each order satisfies those after it.
 *
 * - `tree`: associated like the library's tree over ranks, which gives the floating-point bits of `order: 'tree'`;
 * - `ranks`: in rank order, which operations that are not commutative demand;
 * - `any`: for operations that are associative and commutative.
 */
export type CombinationOrder = 'tree' | 'ranks' | 'any'

/**
 * The entry of docs/collective-algorithms.md on an algorithm. Its formulas hold for P ranks, root 0, one segment and
 * default parameters; `about`, `at most` and `below` may come first. A test compares them with schedules.
 */
export interface CatalogEntry {
  /** The publication. Absent for the library's own algorithms. */
  readonly source?: string
  readonly phases: string
  readonly messages: string
  /** The data sent by the rank that sends most, in units of what MPI's count describes. Absent if there are no data. */
  readonly sent?: string
  /** The purpose, in a few words. */
  readonly serves: string
}

/** The value of a parameter: a number, or a line of text such as an order of bits. */
export type ParameterValue = number | string

/**
 * An algorithm of a collective. The operations of a rank depend only on the shape and the rank, so a process plans its
 * own ranks without the others. `verify` checks the whole schedule. Both ends of a message must be in the same phase.
 */
export interface Algorithm {
  /**
   * The name of the algorithm and of its file, e.g. `bcast-binomial`; then the parameters that differ from their
   * defaults, `bcast-knomial:radix=3`.
   */
  readonly id: string
  readonly collective: Collective
  /** The entry in the catalog; every algorithm of the library has one. */
  readonly catalog?: CatalogEntry
  /** The parameters besides the shape, with bounds and defaults. Absent if there are none. */
  readonly parameters?: NamedOptions
  /** The values of all its parameters, by name, in the order of the table. */
  readonly values?: Readonly<Record<string, ParameterValue>>
  /**
   * Returns the same algorithm with these values, and with the defaults of all others.
   * @throws ERR_ARGUMENT for an unknown parameter and a value out of bounds
   */
  with?(values: Readonly<Record<string, ParameterValue>>): Algorithm
  /**
   * The number of sections that travel in different ways: every unit of data is cut into a multiple of so many
   * segments. Default 1.
   */
  readonly sections?: number
  /**
   * Returns what its operations for a shape follow from: settings with the same object have the same operations. Absent
   * if no other setting has them.
   */
  waysOf?(shape: Shape): object
  /** Whether its messages depend on the grid of a shape. */
  readonly followsGrid?: true
  /**
   * Returns the number of parts into which each rank's contribution is cut. Absent if it is cut by segments alone, or
   * by rank.
   */
  parts?(shape: Shape): number
  /** Returns why it cannot serve a shape, e.g. a number of ranks that is not a power of two. Default: it serves all. */
  refuses?(shape: Shape): string | null
  /**
   * Whether every participant exchanges messages only with the owners of the other halves on its path of the tree over
   * ranks (`treePath`). It need not know where all others begin then.
   */
  readonly isAlongPath?: true
  /** Returns its order of combination, which `verify` proves. Only reductions have one; a barrier combines nothing. */
  order?(shape: Shape): CombinationOrder
  /** Opens the operations of one rank. */
  emit(shape: Shape, rank: number, operations: RankOperations, specification: Specification): void
}
