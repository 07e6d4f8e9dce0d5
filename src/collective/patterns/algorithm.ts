import type { NamedOptions } from '../../base/option.js'
import type { Collective, Specification } from '../../schedule/specification.js'
import type { ParticipantGrid } from './participant-grid.js'
import type { RankOperations } from './rank-operations.js'

/**
 * What an algorithm is planned for. Lengths of blocks are not part of it: they are bound when a schedule
 * runs.
 */
export interface Shape {
  /** Participants; they are the ranks of the schedule. */
  readonly ranks: number
  /** Of rooted collectives. Default 0. */
  readonly root?: number
  /**
   * Segments into which every unit of data is cut, to be sent one after the other. Default: as many as the algorithm has
   * sections, 1 of most.
   */
  readonly segments?: number
  /**
   * The first rank of every participant where participants are runs of consecutive ranks, and the number of
   * ranks: length `ranks + 1`, ascending. Only for the order in which floating-point numbers are combined.
   * Default: one rank each.
   */
  readonly firstRank?: Int32Array
  /** Where the participants are in a network. Default: in a row, one after the other. */
  readonly grid?: ParticipantGrid
}

/**
 * How contributions are combined; each includes those after it.
 *
 * - `tree`: associated like the library's tree over ranks, so with the same floating-point bits as
 *   `order: 'tree'`;
 * - `ranks`: in rank order, as operations demand that are not commutative;
 * - `any`: for operations that are associative and commutative.
 */
export type CombinationOrder = 'tree' | 'ranks' | 'any'

/**
 * What docs/collective-algorithms.md says of an algorithm. Its formulas are those of the page: of P ranks, root 0,
 * one segment and default parameters, where `about`, `at most` and `below` may come first. A test compares them
 * with schedules.
 */
export interface CatalogueEntry {
  /** Where it is published. Absent: the library's own. */
  readonly source?: string
  readonly phases: string
  readonly messages: string
  /** By the rank that sends most, in units of what MPI's count describes. Absent: no data. */
  readonly sent?: string
  /** What it is for, in a few words. */
  readonly serves: string
}

/** Of a parameter: a number, or a line of text such as an order of bits. */
export type ParameterValue = number | string

/**
 * An algorithm of a collective: for every rank of a shape its operations, a function of the shape and the
 * rank alone. So a process plans its own ranks without the others, and the whole is a schedule that `verify`
 * decides on. Both ends of a message must be in the same phase.
 */
export interface Algorithm {
  /**
   * Name of the algorithm and of its file, e.g. `bcast-binomial`; then the parameters that differ from their
   * defaults, `bcast-knomial:radix=3`.
   */
  readonly id: string
  readonly collective: Collective
  /** Every algorithm of the library has one. */
  readonly catalogue?: CatalogueEntry
  /** What it can be given besides a shape, with bounds and defaults. Absent: nothing. */
  readonly parameters?: NamedOptions
  /** The values of all its parameters, by name, in the order of the table. */
  readonly values?: Readonly<Record<string, ParameterValue>>
  /**
   * The same algorithm with these values, and with the defaults of all others.
   * @throws ERR_ARGUMENT for a parameter that it does not have, and a value out of bounds
   */
  with?(values: Readonly<Record<string, ParameterValue>>): Algorithm
  /**
   * Every unit of data is cut into a multiple of so many segments, because they travel in different ways. Default 1.
   */
  readonly sections?: number
  /** Whether its messages depend on where the participants are: on the grid of a shape. */
  readonly followsGrid?: true
  /**
   * Parts into which what each rank contributes is cut, if not by the segments alone. Not where it is cut by
   * rank.
   */
  parts?(shape: Shape): number
  /** Why it cannot serve a shape, e.g. a number of ranks that is no power of two. Default: it serves all. */
  refuses?(shape: Shape): string | null
  /**
   * Every participant exchanges messages only with those that own the other halves on its path of the tree
   * over ranks (`treePath`), so it need not know where all others begin.
   */
  readonly isAlongPath?: true
  /**
   * How it combines, which `verify` proves. Only of reductions; a barrier, which combines nothing, has none.
   */
  order?(shape: Shape): CombinationOrder
  /** Opens the operations of one rank. */
  emit(shape: Shape, rank: number, operations: RankOperations, specification: Specification): void
}
