import type { NamedOptions, OptionTable } from '../../base/option.js'
import type { NeighborSchedule } from '../../schedule/ir.js'
import type { FriendGroups } from '../../topology/friends/friend-groups.js'
import type { GroupingOptions } from '../../topology/friends/grouping-options.js'
import type { Grouping } from '../../topology/grouping/group-friends.js'
import type { ProcessTopology } from '../../topology/process-topology.js'

/**
 * The way of every block to every destination, hop by hop. A strategy that combines messages is such a route for any
 * topology. `hop(h, source, destination)` is the rank that holds the block of `source`, on its way to `destination`,
 * after hop h, for h from 0 to `hops - 1`. Before hop 0 the source holds it; after the last hop the destination does. A
 * block may rest during a hop, and ways to several destinations may share a beginning: a message is sent once for all
 * of them.
 *
 * Pure: the same arguments give the same rank in every process.
 */
export interface Route {
  readonly hops: number
  hop(h: number, source: number, destination: number): number
}

/** The facts on which a route may depend, the same in every process. */
export interface RouteFacts {
  readonly topology: ProcessTopology
  /** The node of every rank; null if it is unknown. */
  readonly nodeOf: Int32Array | null
  /** The progress of a search for friend groups. */
  readonly progress?: Pick<GroupingOptions, 'onGroup' | 'onProgress' | 'signal'>
}

/** A schedule, and the friend groups behind it. */
export interface GroupedSchedule {
  readonly schedule: NeighborSchedule
  readonly groups: Grouping | null
}

/** The numbers that the parameters of a strategy have to cover. */
export interface Extents {
  readonly ranks: number
  /** The number of nodes that host ranks. */
  readonly nodes: number
  /** The most ranks of one node. */
  readonly largest: number
  /** The number of offsets in every dimension of a grid; none if ranks have different offsets. */
  readonly windows: readonly number[]
}

/**
 * Everything that depends on the kind of a strategy. To add a strategy, write one of these in its own file, and
 * enter it in the table of strategies.
 */
export interface StrategyKind<S extends { readonly kind: string }> {
  /** A line of help: an example of its text, and its effect. */
  readonly help: string
  /** Its parameters, in the order in which they are written. Required ones have a default too, for texts. */
  readonly options: OptionTable<Omit<S, 'kind'>> & NamedOptions
  /** Whether callers may give its options apart from its text, as words of their own: `--k 4`. Default: no. */
  readonly hasOptionWords?: true
  /**
   * The number of edges, counted with multiplicity, above which ranks plan from their neighbors by default. Infinity
   * means never.
   */
  readonly planningLimit: number
  /**
   * The facts on which its route depends, if not on the whole graph, so that ranks can plan from their neighbors. They
   * are the number of ranks alone; their nodes too; or also which nodes have edges to which.
   */
  readonly routeNeeds?: 'ranks' | 'nodes' | 'pairs of nodes'
  /**
   * Checks everything else that does not depend on topology and nodes; every option has one of its values by then.
   * @throws ERR_STRATEGY
   */
  check?(strategy: S, ranks: number): void
  /** @throws ERR_STRATEGY */
  route(strategy: S, facts: RouteFacts): Route
  /** Returns its own schedule. Default: that of the route. @throws ERR_STRATEGY */
  schedule?(strategy: S, facts: RouteFacts): GroupedSchedule
  /**
   * The place of the kind among candidates, the simplest kind at 0. Of strategies that take equally long, a choice takes
   * the first.
   */
  readonly place: number
  /** Whether its parameters hold for one numbering of the ranks only. Default: no. */
  readonly isNumbered?: boolean
  /** Lists the strategies of the kind that a choice considers, the simplest first, for more than one rank. */
  candidates(extents: Extents): S[]
  /** Returns per hop of a candidate's route the most messages that a rank sends. Default: the strategy has no bound. */
  mostMessages?(candidate: S, extents: Extents): number[]
  /** Returns the number of friends of the groups that are formed first, for strategies that group friends. */
  friends?(strategy: S): number
  /** Returns how an engine groups the friends of a plan; absent if the kind groups none, or step by step. */
  grouping?(strategy: S): Omit<GroupingOptions, 'nodeOf'>
  /**
   * Returns the schedule of groups that are formed. A kind with `grouping` has it, so that ranks may form the groups by
   * messages.
   *
   * @param ranks whose operations are emitted, ascending; their groups must be complete. Default: all
   */
  scheduleOfGroups?(
    strategy: S,
    topology: ProcessTopology,
    groups: FriendGroups,
    ranks?: Iterable<number>,
  ): NeighborSchedule
  /** Returns the most blocks of one message of an allgather. Default: the strategy has no bound. */
  mostBlocks?(strategy: S): number
  /**
   * Returns strategies that differ from one in a step: a list of radices or widths, or one of the options. The first
   * ones were faster most often. Lists that a strategy leaves to their defaults stay there; an option that a step
   * returns to its default is left out. Default: none.
   */
  similar?(strategy: S, extents: Extents): S[]
}
