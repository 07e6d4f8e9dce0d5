import { requireOptions } from '../../base/known-options.js'
import {
  functionOption,
  integerOption,
  numberOption,
  type OptionTable,
  uncheckedOption,
  valueOption,
  wordOption,
} from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { mulberry32 } from '../../base/random.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { entriesByRow, rowStarts } from '../compressed-rows.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { topologyFromEdges } from '../topology-builders.js'
import { gridStarts } from './grid-starts.js'
import { objectiveProblems } from './objective-problems.js'
import { nodeList, tabledDistance, uniformDistance } from './placed-graph.js'
import {
  type MappingObjective,
  mappingObjectives,
  type Problem,
  type Refined,
  refined,
  summedProblem,
} from './problem.js'
import { requireAmounts } from './weighted-graph.js'

/** A graph of a program that may have several. */
export interface RepeatedTopology {
  readonly topology: ProcessTopology
  /** The number of times it is exchanged, relative to the other graphs: above 0, at most 1e9. Default 1. */
  readonly times?: number
}

/** A mapping to begin with. */
export interface MappingStart {
  /** The name of the start in the result. */
  readonly start: string
  /** The node of every vertex; each node has as many vertices as slots. */
  readonly nodeOf: ArrayLike<number>
}

export interface MapOptions {
  /** The node of every slot, as `nodeOf(machine, ranks)` returns them. As many slots as ranks. */
  readonly nodeOfSlot: ArrayLike<number>
  /** Default `pairs`. */
  readonly objective?: MappingObjective
  /**
   * The distance of two nodes, for `hop-bytes`: symmetric, and 0 from a node to itself. Default 1 between all nodes.
   */
  readonly distance?: (nodeA: number, nodeB: number) => number
  /** Further mappings to begin with, such as those of {@link communityStart} or of another program. */
  readonly starts?: readonly MappingStart[]
  /** Equal seeds give equal mappings. Default 1. */
  readonly seed?: number
  /**
   * The budget of refinement in visits of a neighbor, some 20 ns each: 5,000 for every rank and every edge, but at most
   * this. Default 10^8.
   */
  readonly mostWork?: number
}

const mapOptions: OptionTable<MapOptions> = {
  nodeOfSlot: uncheckedOption,
  objective: wordOption(mappingObjectives),
  distance: functionOption,
  starts: valueOption('a list of mappings', Array.isArray),
  seed: integerOption({ least: 0, most: 2 ** 32 - 1 }),
  mostWork: numberOption({ least: 0 }),
}

/** The best mapping found for a topology. */
export interface Mapping {
  /** The slot of every vertex: a permutation of the ranks. Vertices of a node are in ascending order on its slots. */
  readonly slotOf: Int32Array
  /** The node of every vertex. */
  readonly nodeOf: Int32Array
  /** The cost by the objective. */
  readonly cost: number
  /** The cost with vertex v on slot v. Never less than `cost`. */
  readonly identityCost: number
  /**
   * The start from which it was refined: `identity`, `halved boxes`, `boxes of AxB`, `bisection`, `dual bisection`, or
   * the name that was given.
   */
  readonly start: string
}

/**
 * Places the vertices of a topology on slots, each of which is on a node. The two best of several starts are refined by
 * the objective, and the better result is returned. It is never worse than vertex v on slot v. Deterministic.
 *
 * Time: 7.5 s for 100,000 ranks with a million edges (median of three runs); 62 s for a million ranks with eight
 * million (one run), both by `pairs` on an AMD EPYC. Memory: some 100 bytes an edge.
 *
 * @throws ERR_TOPOLOGY, also for weights below 0 or above 1e300 together by `hop-bytes`; ERR_MACHINE unless there is a
 *   node for the slot of each rank
 */
export function mapTopology(topology: ProcessTopology, options: MapOptions): Mapping {
  return mapTopologies([{ topology }], options)
}

/**
 * Maps several graphs of one program, whose vertex v is the same rank, as {@link mapTopology} does. The costs add up,
 * each multiplied by the number of times that its graph is exchanged.
 *
 * @throws as {@link mapTopology}; ERR_ARGUMENT, ERR_TOPOLOGY unless there is a graph, and all have equally many ranks
 */
export function mapTopologies(graphs: readonly RepeatedTopology[], options: MapOptions): Mapping {
  const timed = timedTopologies(graphs)
  checkOptions('mapTopology', mapOptions, options)
  const { objective = 'pairs', seed = 1, mostWork = 100_000_000 } = options
  const [{ topology: first, times }] = timed
  const isOne = timed.length === 1 && times === 1
  const topology = isOne ? first : joinedTopology(graphs)
  requireAmounts(topology, objective)
  const identity = nodeList('nodeOfSlot', options.nodeOfSlot, topology.ranks)
  const capacities = capacitiesOf(identity)
  const nodes = capacities.length
  const work = Math.min(mostWork, 5_000 * (topology.ranks + topology.outRank.length))
  const { distance: given = uniformDistance } = options
  const distance = objective === 'hop-bytes' ? tabledDistance(given, nodes) : given
  const problemOf = (one: ProcessTopology) =>
    objectiveProblems[objective](one, { capacities, distance, work })
  const joined = problemOf(topology)
  const parts = () => timed.map((part) => ({ problem: problemOf(part.topology), times: part.times }))
  const problem = isOne ? joined : summedProblem(parts(), joined)
  const next = mulberry32(seed)
  const begun = (options.starts ?? []).map((each) => checkedStart(each, capacities, topology.ranks))
  const asIs = { start: 'identity', nodeOf: identity }
  const identityCost = costOf(problem, identity)
  // The number of a node does not matter unless the objective knows distances.
  const isNumbered = problem.arranged !== undefined
  const others = [
    ...begun,
    ...gridStarts(topology, { capacities, isNumbered }),
    ...bisections(topology, problem, next),
  ]
  // The first of equal ones wins: the present mapping, then those that the caller gave.
  const placed = [{ ...asIs, cost: identityCost }, ...others.map((each) => placedStart(each, problem))]
  const search = { work: Math.min(mostWork / 4, arrangingWork * nodes) / refinedStarts, next }
  const best = promising(promising(placed).map((each) => arranged(each, problem, search)))
    .map((start, _, { length }) => {
      const share = Math.floor(work / length)
      const found = refined(problem, start.nodeOf, { nodes, work: share, next })
      return objective === 'hop-bytes' ? recounted(start, found, problem) : { ...start, ...found }
    })
    .reduce((a, b) => (b.cost < a.cost ? b : a))
  return { ...best, slotOf: slotsOf(best.nodeOf, identity, nodes), identityCost }
}

const refinedStarts = 2
/** A start that costs so many times as much as the best one lost by 2% and more on all measured graphs. */
const hopeless = 1.2

/** Returns the best starts, without those that are much worse than the best one. */
function promising(starts: readonly PlacedStart[]): readonly PlacedStart[] {
  const ascending = starts.toSorted((a, b) => a.cost - b.cost)
  return ascending.slice(0, refinedStarts).filter(({ cost }) => cost <= hopeless * ascending[0].cost)
}

/**
 * Returns several random bisections for graphs that are small enough that they take little time compared with
 * refinement.
 */
function bisections({ ranks, outRank }: ProcessTopology, problem: Problem, next: () => number): OwnStart[] {
  const size = ranks + outRank.length
  const count = Math.max(1, Math.min(mostDual, Math.floor(manyBisected / size)))
  const dual = problem.dual?.(count, next) ?? []
  const isSmall = size <= manyBisected
  const length = isSmall ? 4 : dual.length > 0 ? 0 : 1
  return [
    ...Array.from({ length }, () => ({ start: 'bisection', nodeOf: problem.bisected(next) })),
    ...dual.map((nodeOf) => ({ start: 'dual bisection', nodeOf })),
  ]
}

const manyBisected = 2 ** 17
const mostDual = 8

function placedStart(start: OwnStart, problem: Problem): PlacedStart {
  return { ...start, cost: costOf(problem, start.nodeOf) }
}

/**
 * Recomputes the cost of the refined mapping, whose sums were rounded as vertices moved. Returns the start if that
 * does not cost more.
 */
function recounted(start: PlacedStart, { nodeOf }: Refined, problem: Problem): PlacedStart {
  const found = placedStart({ start: start.start, nodeOf }, problem)
  return found.cost < start.cost ? found : start
}

/** Places the same groups of vertices on other nodes if that costs less. */
function arranged(
  start: PlacedStart,
  problem: Problem,
  search: { readonly work: number; readonly next: () => number },
): PlacedStart {
  if (problem.arranged === undefined) return start
  const other = placedStart({ start: start.start, nodeOf: problem.arranged(start.nodeOf, search) }, problem)
  return other.cost < start.cost ? other : start
}

/** The visits for every node: some thousand swaps. */
const arrangingWork = 200_000

function costOf(problem: Problem, nodeOf: Int32Array): number {
  return problem.place(nodeOf).cost
}

function capacitiesOf(nodeOfSlot: Int32Array): Int32Array {
  const capacities = new Int32Array(nodeOfSlot.reduce((most, node) => Math.max(most, node), -1) + 1)
  for (const node of nodeOfSlot) capacities[node]++
  return capacities
}

interface OwnStart extends MappingStart {
  readonly nodeOf: Int32Array
}

interface PlacedStart extends OwnStart {
  readonly cost: number
}

/** @throws ERR_MACHINE unless each node has as many vertices as slots */
function checkedStart(given: MappingStart, capacities: Int32Array, ranks: number): OwnStart {
  requireOptions('start', given)
  const start = String(given.start)
  const nodeOf = nodeList(`start ${start}`, given.nodeOf, ranks)
  const free = capacities.slice()
  for (const node of nodeOf) free[node]--
  if (free.every((slots) => slots === 0)) return { start, nodeOf }
  throw new RankweaveError('ERR_MACHINE', `start ${start}: expected as many vertices on each node as slots`)
}

/** Puts the vertices of every node, ascending, on its slots, ascending. */
function slotsOf(nodeOf: Int32Array, nodeOfSlot: Int32Array, nodes: number): Int32Array {
  const byNode = (rows: Int32Array) => entriesByRow(rowStarts(nodes, rows), rows)
  const slots = byNode(nodeOfSlot)
  const slotOf = new Int32Array(nodeOf.length)
  for (const [i, v] of byNode(nodeOf).entries()) slotOf[v] = slots[i]
  return slotOf
}

/** A graph whose `times` has been checked. */
interface TimedTopology {
  readonly topology: ProcessTopology
  readonly times: number
}

const mostTimes = 1e9

/** @throws ERR_ARGUMENT, ERR_TOPOLOGY unless there is a graph, and all have equally many ranks */
function timedTopologies(graphs: readonly RepeatedTopology[]): readonly TimedTopology[] {
  if (!Array.isArray(graphs) || graphs.length === 0)
    throw wrongValue('ERR_ARGUMENT', 'expected a list of one topology or more', graphs)
  return graphs.map((graph: RepeatedTopology) => {
    requireOptions('graph', graph)
    const { topology, times = 1 } = graph
    requireTopology(topology)
    if (!(times > 0 && times <= mostTimes))
      throw wrongValue('ERR_ARGUMENT', `times: expected a number above 0, at most ${mostTimes}`, times)
    const { ranks } = graphs[0].topology as ProcessTopology
    if (topology.ranks === ranks) return { topology, times }
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `expected graphs of equally many ranks, got ${ranks} and ${topology.ranks}`,
    )
  })
}

/**
 * Joins all edges of several graphs on the same ranks in one graph. The weight of an edge is that in its graph, 1
 * without weights, multiplied by `times`.
 *
 * @throws ERR_ARGUMENT, ERR_TOPOLOGY unless there is a graph, and all have equally many ranks
 */
export function joinedTopology(graphs: readonly RepeatedTopology[]): ProcessTopology {
  const timed = timedTopologies(graphs)
  const edges = timed.reduce((sum, { topology }) => sum + topology.outRank.length, 0)
  const [sources, destinations] = [new Int32Array(edges), new Int32Array(edges)]
  const weights = new Float64Array(edges)
  let at = 0
  for (const { topology, times } of timed) {
    const { ranks, outStart, outRank, outWeight } = topology
    for (let v = 0; v < ranks; v++)
      for (let e = outStart[v]; e < outStart[v + 1]; e++) {
        sources[at] = v
        destinations[at] = outRank[e]
        weights[at++] = times * (outWeight?.[e] ?? 1)
      }
  }
  return topologyFromEdges(timed[0].topology.ranks, { sources, destinations, weights })
}
