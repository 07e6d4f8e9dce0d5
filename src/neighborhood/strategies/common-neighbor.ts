import { flagOption, type OptionTable } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
import { indexIn } from '../../base/search.js'
import { NeighborScheduleBuilder, type ScheduleBuilder } from '../../schedule/builder.js'
import { type NeighborSchedule, scheduleTag } from '../../schedule/ir.js'
import { entriesByRow, rowStarts, transposeRows } from '../../topology/compressed-rows.js'
import { type FriendGroups, partBounds } from '../../topology/friends/friend-groups.js'
import {
  friendOptions,
  type GroupingEngine,
  requireSearchable,
} from '../../topology/friends/grouping-options.js'
import { type Grouping, groupFriends } from '../../topology/grouping/group-friends.js'
import { distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { ownPlace, ReceiveSlots } from './receive-slots.js'
import type { Route, RouteFacts, StrategyKind } from './strategy-kind.js'

/** Groups of k friends combine what they send to common neighbors (Ghazimirsaeed 2019 §7). */
export interface CommonNeighbor {
  readonly kind: 'common-neighbor'
  /** The number of friends per group, at least 2. */
  readonly k: number
  /** `aware`: friends share a node, theta defaults to k. `agnostic`: any ranks, theta defaults to k(k-1). */
  readonly mode: 'agnostic' | 'aware'
  /** A group needs strictly more common neighbors than this. */
  readonly theta?: number
  /** Whether each pair of friends exchanges blocks once, even if they are in several groups together. Default true. */
  readonly dedupe?: boolean
  /** Whether direct messages to ranks that an exchange reaches are left out. Default true. */
  readonly elide?: boolean
  /**
   * The engine that groups friends. Default `greedy`, or `distributed` if `createDistGraphAdjacent` plans from
   * neighbors. The ranks then group friends by messages to their neighbors, and find the plan of `greedy`. Other calls
   * refuse `distributed`, because a process that has the whole topology could only simulate the ranks.
   */
  readonly engine?: GroupingEngine
  /**
   * Breaks ties between equally heavy groups by a permutation of the ranks. Default: by the ranks themselves.
   */
  readonly labelSeed?: number
}

type CombiningOptions = Pick<CommonNeighbor, 'dedupe' | 'elide'>

/** The options of what a group sends. */
export const combiningOptions = {
  dedupe: flagOption({
    help: 'one exchange per pair of friends, even if they are in several groups together',
    default: true,
  }),
  elide: flagOption({
    help: 'no direct message to a rank that an exchange reaches as well',
    default: true,
  }),
} satisfies OptionTable<CombiningOptions>

const { k, mode, theta, engine, labelSeed } = friendOptions

export const commonNeighbor: StrategyKind<CommonNeighbor> = {
  help: 'common-neighbor:k=4,mode=aware   groups of k ranks with common neighbors combine what they send',
  options: { k, mode, theta, ...combiningOptions, engine, labelSeed },
  hasOptionWords: true,
  planningLimit: 2 ** 20,
  check: (strategy) => requireSearchable(strategy),
  route(strategy, facts) {
    const out = distinctOut(facts.topology)
    return routeByEdges(out, [friendsOfEdges(out, groupsOf(strategy, facts))])
  },
  schedule(strategy, facts) {
    const groups = groupsOf(strategy, facts)
    return { schedule: commonNeighborSchedule(facts.topology, groups, strategy), groups }
  },
  friends: ({ k: size }) => size,
  scheduleOfGroups: (strategy, topology, groups, ranks) =>
    commonNeighborSchedule(topology, groups, strategy, ranks),
  grouping: ({ kind: _kind, dedupe: _dedupe, elide: _elide, ...settings }) => settings,
  // At most one group serves an edge, so members of a group combine only their own blocks.
  mostBlocks: ({ k: size }) => size,
  place: 7,
  candidates: ({ ranks, largest }) =>
    groupingModes(largest).flatMap((mode) =>
      [2, 4, 8].filter((k) => k <= ranks).map((k): CommonNeighbor => ({ kind: 'common-neighbor', k, mode })),
    ),
}

/** Returns the modes in which ranks may have friends: those that are alone on their nodes have none there. */
export function groupingModes(largest: number): readonly ('aware' | 'agnostic')[] {
  return largest > 1 ? ['aware', 'agnostic'] : ['agnostic']
}

function groupsOf(strategy: CommonNeighbor, { topology, nodeOf, progress }: RouteFacts): Grouping {
  return groupFriends(topology, {
    ...commonNeighbor.grouping!(strategy),
    ...progress,
    nodeOf: strategy.mode === 'aware' ? nodeOf : null,
  })
}

/** Returns for every edge the rank that serves it: a friend, or the destination itself. */
function friendsOfEdges(out: NeighborSets, groups: FriendGroups): Int32Array {
  const friends = out.rank.slice()
  serveEdges(groups, out, (edge, holder) => {
    friends[edge] = holder
  })
  return friends
}

/**
 * Plans a schedule in which friends combine what they send to common neighbors. Phase 0: members of a group exchange
 * their blocks, and every rank sends directly to neighbors that no group serves. Phase 1: every member sends the blocks
 * of the whole group, by ascending rank, to each common neighbor in its part. Contributed blocks do not change, so all
 * steps share these two phases.
 *
 * An exchange is omitted if its receiver has no part (fewer common neighbors than members), because its block would not
 * be used.
 *
 * @param ranks whose operations are emitted, ascending; their groups must be complete. Default: all.
 * @see Ghazimirsaeed 2019 §7.2.3, Algorithm 7.4 (there step by step)
 */
function commonNeighborSchedule(
  topology: ProcessTopology,
  groups: FriendGroups,
  options: CombiningOptions = {},
  ranks: Iterable<number> = Array(topology.ranks).keys(),
): NeighborSchedule {
  const { dedupe, elide } = withDefaults(combiningOptions, options)
  const { k, theta, mode } = groups
  const builder = new NeighborScheduleBuilder({
    topology,
    strategy: 'common-neighbor',
    parameters: { k, theta, mode, dedupe, elide },
    phases: groups.steps > 0 ? 2 : 1,
  })
  const programs = new CombiningPrograms(builder, topology, groups, { dedupe, elide })
  for (const rank of ranks) programs.emit(rank)
  return builder.build()
}

/** The step in the tag distinguishes several exchanges of one pair. */
const tagsPerStep = 4

/**
 * Emits one rank after the other. Each needs only facts local to that rank: its groups, the groups that serve it, and
 * the ranks that it sends to and receives from directly.
 */
class CombiningPrograms {
  readonly #builder: ScheduleBuilder
  readonly #groups: FriendGroups
  readonly #options: Required<CombiningOptions>
  readonly #slots: ReceiveSlots
  /** The positions of a rank in `groups.members` and `groups.common`. */
  readonly #memberships: Occurrences
  readonly #served: Occurrences
  readonly #groupOfCommon: Int32Array
  /** The ranks that send to a rank directly. */
  readonly #directIn: NeighborSets
  /** Marks are valid for the rank they name, so they are never cleared. */
  readonly #exchangesTo: Int32Array
  readonly #exchangesFrom: Int32Array
  readonly #sendsDirectly: Int32Array
  /** The place of a friend's block, valid if `#exchangesFrom` names the rank. */
  readonly #friendAt: Int32Array
  /** The place of the block of member i in the rank's j-th group, at `j * k + i`. */
  readonly #memberAt: number[] = []

  constructor(
    builder: ScheduleBuilder,
    topology: ProcessTopology,
    groups: FriendGroups,
    options: Required<CombiningOptions>,
  ) {
    const { ranks } = topology
    this.#builder = builder
    this.#groups = groups
    this.#options = options
    this.#slots = new ReceiveSlots(builder, topology)
    this.#memberships = occurrencesOf(groups.members, ranks)
    this.#served = occurrencesOf(groups.common, ranks)
    this.#groupOfCommon = rowOfEntries(groups.commonStart)
    this.#directIn = transposeRows(ranks, { start: groups.directStart, rank: groups.direct })
    this.#exchangesTo = new Int32Array(ranks).fill(-1)
    this.#exchangesFrom = new Int32Array(ranks).fill(-1)
    this.#sendsDirectly = new Int32Array(ranks).fill(-1)
    this.#friendAt = new Int32Array(ranks)
  }

  emit(rank: number): void {
    this.#slots.enter(rank)
    this.#sendExchanges(rank)
    this.#sendDirect(rank)
    this.#receiveExchanges(rank)
    this.#receiveDirect(rank)
    this.#sendCombined(rank)
    this.#receiveCombined(rank)
    this.#slots.copyRest(this.#groups.steps > 0 ? 1 : 0)
  }

  #sendExchanges(rank: number): void {
    const { k, members } = this.#groups
    const { start, position } = this.#memberships
    for (let m = start[rank]; m < start[rank + 1]; m++) {
      const group = Math.floor(position[m] / k)
      for (let i = 0; i < k; i++) {
        const friend = members[group * k + i]
        if (friend === rank || !this.#hasPart(group, i)) continue
        if (this.#options.dedupe && this.#exchangesTo[friend] === rank) continue
        this.#exchangesTo[friend] = rank
        this.#builder.send(rank, 0, friend, this.#exchangeTag(group)).add(rank, ownPlace)
      }
    }
  }

  #sendDirect(rank: number): void {
    const { directStart, direct } = this.#groups
    for (let e = directStart[rank]; e < directStart[rank + 1]; e++) {
      const destination = direct[e]
      if (this.#options.elide && this.#exchangesTo[destination] === rank) continue
      this.#builder.send(rank, 0, destination, scheduleTag.direct).add(rank, ownPlace)
    }
  }

  /**
   * Receives exchanges. A friend's first block goes into its slot if it replaces a direct message; all others go into
   * temporary places.
   */
  #receiveExchanges(rank: number): void {
    const { k, members } = this.#groups
    const { start, position } = this.#memberships
    this.#markDirectSources(rank)
    for (let m = start[rank]; m < start[rank + 1]; m++) {
      const group = Math.floor(position[m] / k)
      const at = (m - start[rank]) * k
      const own = position[m] % k
      this.#memberAt[at + own] = ownPlace
      if (!this.#hasPart(group, own)) continue
      for (let i = 0; i < k; i++) {
        const friend = members[group * k + i]
        if (i === own) continue
        const isFirst = this.#exchangesFrom[friend] !== rank
        if (isFirst || !this.#options.dedupe) {
          const isDelivery = isFirst && this.#options.elide && this.#sendsDirectly[friend] === rank
          const place = isDelivery ? this.#slots.placeOf(friend) : this.#builder.stage(rank)
          this.#builder.receive(rank, 0, friend, this.#exchangeTag(group)).add(friend, place)
          this.#exchangesFrom[friend] = rank
          this.#friendAt[friend] = place
        }
        this.#memberAt[at + i] = this.#friendAt[friend]
      }
    }
  }

  #receiveDirect(rank: number): void {
    const { start, rank: sources } = this.#directIn
    for (let d = start[rank]; d < start[rank + 1]; d++) {
      const source = sources[d]
      if (this.#options.elide && this.#exchangesFrom[source] === rank) continue
      this.#builder.receive(rank, 0, source, scheduleTag.direct).add(source, this.#slots.placeOf(source))
    }
  }

  #sendCombined(rank: number): void {
    const { k, members, commonStart, common } = this.#groups
    const { start, position } = this.#memberships
    for (let m = start[rank]; m < start[rank + 1]; m++) {
      const group = Math.floor(position[m] / k)
      const at = (m - start[rank]) * k
      const first = commonStart[group]
      const [from, to] = partBounds(commonStart[group + 1] - first, k, position[m] % k)
      for (let c = first + from; c < first + to; c++) {
        this.#builder.send(rank, 1, common[c], scheduleTag.combined)
        for (let i = 0; i < k; i++) this.#builder.add(members[group * k + i], this.#memberAt[at + i])
      }
    }
  }

  #receiveCombined(rank: number): void {
    const { k, members, holder } = this.#groups
    const { start, position } = this.#served
    for (let s = start[rank]; s < start[rank + 1]; s++) {
      const group = this.#groupOfCommon[position[s]]
      this.#builder.receive(rank, 1, members[group * k + holder[position[s]]], scheduleTag.combined)
      for (let i = 0; i < k; i++) {
        const member = members[group * k + i]
        this.#builder.add(member, this.#slots.placeOf(member))
      }
    }
  }

  #markDirectSources(rank: number): void {
    const { start, rank: sources } = this.#directIn
    for (let d = start[rank]; d < start[rank + 1]; d++) this.#sendsDirectly[sources[d]] = rank
  }

  #hasPart(group: number, i: number): boolean {
    const { commonStart } = this.#groups
    return i < commonStart[group + 1] - commonStart[group]
  }

  #exchangeTag(group: number): number {
    if (this.#options.dedupe) return scheduleTag.exchange
    return scheduleTag.exchange + tagsPerStep * this.#groups.step[group]
  }
}

/**
 * Returns a route that is given edge by edge: `ways[h][e]` holds the block after hop h on its way along edge e. After
 * the last hop the destination holds it.
 *
 * @param out the distinct destinations of every rank
 */
export function routeByEdges(out: NeighborSets, ways: readonly Int32Array[]): Route {
  return {
    hops: ways.length + 1,
    hop(h, source, destination) {
      if (h >= ways.length) return destination
      return ways[h][edgeOf(out, source, destination)]
    },
  }
}

/** Returns the position of a destination of a rank. */
export function edgeOf({ start, rank }: NeighborSets, source: number, destination: number): number {
  const first = start[source]
  return first + indexIn(rank.subarray(first, start[source + 1]), destination)
}

/** Visits every edge that a group serves, in the order of the groups, with the friend that serves it. */
export function serveEdges(
  { k, count, members, step, commonStart, common, holder }: FriendGroups,
  out: NeighborSets,
  serve: (edge: number, holder: number, step: number) => void,
): void {
  for (let group = 0; group < count; group++) {
    for (let c = commonStart[group]; c < commonStart[group + 1]; c++) {
      const serving = members[group * k + holder[c]]
      for (let i = 0; i < k; i++) serve(edgeOf(out, members[group * k + i], common[c]), serving, step[group])
    }
  }
}

/** For every rank its positions in a list, ascending, as compressed rows. */
interface Occurrences {
  /** Length `ranks + 1`. */
  readonly start: Int32Array
  readonly position: Int32Array
}

function occurrencesOf(list: Int32Array, ranks: number): Occurrences {
  const start = rowStarts(ranks, list)
  return { start, position: entriesByRow(start, list) }
}

/** Returns the row of every entry of compressed rows. */
export function rowOfEntries(start: Int32Array): Int32Array {
  const row = new Int32Array(start[start.length - 1])
  for (let r = 0; r + 1 < start.length; r++) row.fill(r, start[r], start[r + 1])
  return row
}
