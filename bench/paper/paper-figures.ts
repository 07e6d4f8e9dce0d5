import type { Study } from '../../src/study/study.js'
import type { HyperedgeRow } from './hyperedge-counts.js'
import type { ListCost } from './linked-list-cost.js'
import type { QueueRow } from './queue-speedups.js'
import type { ProductRow } from './sparse-products.js'

/** What we find: counts, simulated times, planning measured here. */
export interface PaperFigures {
  readonly mooreHyperedges: readonly HyperedgeRow[]
  readonly randomHyperedges: readonly HyperedgeRow[]
  readonly moore: readonly Study[]
  readonly random: readonly Study[]
  readonly products: readonly ProductRow[]
  /** Moore neighborhoods and random graphs with costs of searches. */
  readonly queues: readonly QueueRow[]
  readonly listCosts: readonly ListCost[]
}

/** Chapter 7 of Ghazimirsaeed 2019 again, and what is printed beside our values. */
export interface PaperStudy extends PaperFigures {
  readonly claims: readonly Claim[]
}

/**
 * What is printed, and what we find. Most figures of the chapter are bar charts, whose values cannot be read;
 * these are in its text.
 */
export interface Claim {
  /** Where it is printed. */
  readonly where: string
  readonly what: string
  /** Of our value. */
  readonly origin: 'counted' | 'simulated' | 'measured'
  readonly unit: string
  /** The value, where the text has it; its words, where the text has a bound, a direction or `none`. */
  readonly printed: number | string
  /** Null where we have no value. */
  readonly ours: number | null
  /**
   * Of ours, compared with a printed value; null beside words, where ours is missing, and for times measured
   * here.
   */
  readonly differencePercent: number | null
  /** Why ours differs, or what was done; empty where there is nothing to say. */
  readonly why: string
}
