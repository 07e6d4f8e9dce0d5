import type { NamedOptions, OptionTable } from '../../base/option.js'
import type { NeighborSchedule } from '../../schedule/ir.js'
import type { GroupingOptions } from '../../topology/friends/grouping-options.js'
import type { Grouping } from '../../topology/grouping/grouping.js'
import type { ProcessTopology } from '../../topology/process-topology.js'

/**
 * The way of every block to every destination, hop by hop: what a strategy that combines messages is,
 * whatever the topology. `hop(h, source, destination)` is the rank that holds the block of `source`, on its
 * way to `destination`, after hop h, for h from 0 to `hops - 1`. Before hop 0 the source holds it; after the
 * last hop the destination does. A block may rest during a hop, and ways to several destinations may share a
 * beginning: a message is sent once for all of them.
 *
 * Pure: the same arguments give the same rank in every process.
 */
export interface Route {
  readonly hops: number
  hop(h: number, source: number, destination: number): number
}

/** What a route may depend on: the same in every process. */
export interface RouteFacts {
  readonly topology: ProcessTopology
  /** Node of every rank; null where it is not known. */
  readonly nodeOf: Int32Array | null
  /** Of a search for friend groups. */
  readonly progress?: Pick<GroupingOptions, 'onGroup' | 'onProgress' | 'signal'>
}

/** A schedule, and the friend groups behind it. */
export interface GroupedSchedule {
  readonly schedule: NeighborSchedule
  readonly groups: Grouping | null
}

/**
 * Everything that depends on the kind of a strategy. A new strategy is one of these, in the table of
 * strategies.
 */
export interface StrategyKind<S extends { readonly kind: string }> {
  /** One line of help: an example of its text, and what it does. */
  readonly help: string
  /**
   * Its parameters, in the order in which they are written. Required ones have a default too: that of texts.
   */
  readonly options: OptionTable<Omit<S, 'kind'>> & NamedOptions
  /**
   * Edges, counted with their multiplicity, above which ranks plan from their neighbors by default. Infinity:
   * never.
   */
  readonly planningLimit: number
  /**
   * What its route depends on, if not on the whole graph: then ranks can plan from their neighbors. The
   * number of ranks alone; their nodes too; or besides those which nodes have edges to which.
   */
  readonly routeNeeds?: 'ranks' | 'nodes' | 'pairs of nodes'
  /**
   * Finds what else is wrong whatever topology and nodes are: every option has one of its values.
   * @throws ERR_STRATEGY
   */
  check?(strategy: S, ranks: number): void
  /** @throws ERR_STRATEGY */
  route(strategy: S, facts: RouteFacts): Route
  /** Its own schedule. Default: that of the route. @throws ERR_STRATEGY */
  schedule?(strategy: S, facts: RouteFacts): GroupedSchedule
}
