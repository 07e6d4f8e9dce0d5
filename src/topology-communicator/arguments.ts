import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { givenOptions } from '../base/option-table.js'
import { RankweaveError, shown, wrongValue } from '../errors.js'
import { isMachine, type Machine } from '../machine/machine.js'
import { formatMachine } from '../machine/machine-text.js'
import { requireFixed, type TypedArray } from '../messages/datatype/elements.js'
import {
  type AutoStrategy,
  type ChosenOperation,
  checkedChosen,
  isAuto,
} from '../neighborhood/choose/auto.js'
import type { PlanStore } from '../neighborhood/plan/plan-store.js'
import {
  groupingOf,
  type Strategy,
  strategies,
  strategyKinds,
} from '../neighborhood/strategies/strategies.js'
import { strategyError } from '../topology/friends/grouping-options.js'
import { type MappingObjective, mappingObjectives, simulatedTime } from '../topology/mapping/problem.js'

/**
 * Accepts any list whose first element, if it has one, is a number; other functions check the values.
 *
 * @throws ERR_ARGUMENT; ERR_TYPE for a typed array over a detached or resizable buffer
 */
export function requireNumbers(where: string, what: string, list: unknown): void {
  if (ArrayBuffer.isView(list)) requireFixed(list as TypedArray)
  const { length, 0: first } = Object(list) as { length?: unknown; 0?: unknown }
  const isList = typeof list === 'object' && Number.isInteger(length) && (length as number) >= 0
  if (isList && (length === 0 || typeof first === 'number')) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected ${what} as an array of numbers`, list)
}

/** Copies a list, which the program may change or transfer while the call is in progress. */
export function snapshotOf<L extends ArrayLike<number> | undefined>(list: L): L {
  if (list === undefined) return list
  return (ArrayBuffer.isView(list)
    ? (list as unknown as TypedArray).slice()
    : Array.from(list)) as unknown as L
}

/** @throws ERR_RANK unless all are ranks of a communicator of this size */
export function requireRanks(where: string, what: string, ranks: ArrayLike<number>, size: number): void {
  requireNumbers(where, `${what}s`, ranks)
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i]
    if (!Number.isInteger(rank) || rank < 0 || rank >= size)
      throw wrongValue('ERR_RANK', `${where}: ${what} ${i}: expected 0 to ${size - 1}`, rank, { rank, size })
  }
}

/** @throws ERR_COUNT for another number of values than expected */
export function requireLength(
  where: string,
  what: string,
  values: ArrayLike<number> | undefined,
  expected: number,
): void {
  if (values === undefined) return
  requireNumbers(where, `${what}s`, values)
  if (values.length === expected) return
  throw wrongValue('ERR_COUNT', `${where}: expected ${expected} ${what}s`, values.length)
}

/** @throws ERR_COUNT for degrees that are negative or do not add up */
export function requireDegrees(where: string, degrees: ArrayLike<number>, destinations: number): void {
  let total = 0
  for (let i = 0; i < degrees.length; i++) {
    if (!Number.isInteger(degrees[i]) || degrees[i] < 0)
      throw wrongValue('ERR_COUNT', `${where}: degree ${i}: expected an integer >= 0`, degrees[i])
    total += degrees[i]
  }
  if (total !== destinations) {
    const expected = `${where}: expected degrees that add up to the ${destinations} destinations`
    throw wrongValue('ERR_COUNT', expected, total)
  }
}

/** The number of bytes of every block: an integer >= 0. */
export interface BlockLength {
  readonly bytes?: number | null
}

const blockLength: OptionTable<BlockLength> = uncheckedOptions('bytes')

/** The options of a choice. */
export interface ChoiceOptions extends BlockLength {
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
}

export const choiceOptions: OptionTable<ChoiceOptions> = uncheckedOptions('bytes', 'operation')

/** @throws ERR_ARGUMENT for an operation for which no strategy is chosen */
export function checkedOperation(where: string, { operation }: ChoiceOptions): ChosenOperation {
  return checkedChosen(where, operation ?? 'neighbor-allgather')
}

/** @throws ERR_ARGUMENT for an invalid length, and for unknown options of the call */
export function checkedLength(
  where: string,
  blocks: BlockLength,
  known: object = blockLength,
): number | null {
  requireKnownOptions(where, blocks, known)
  const { bytes = null } = blocks
  if (bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)) return bytes
  throw wrongValue('ERR_ARGUMENT', `${where}: expected bytes as an integer >= 0`, bytes)
}

/** @throws ERR_ARGUMENT for a value that cannot store plans */
export function checkPlanStore(store: PlanStore | undefined): void {
  if (store === undefined) return
  const { read, write, onProblem = () => {} } = Object(store) as Partial<PlanStore>
  if ([read, write, onProblem].every((each) => typeof each === 'function')) return
  const expected =
    'planCache: expected an object with functions read and write, perhaps onProblem, as planDirectory returns'
  throw wrongValue('ERR_ARGUMENT', expected, store)
}

const choices = ['graph', 'neighbors'] as const
export type PlanFrom = (typeof choices)[number]

/**
 * The most edges, counted with multiplicity, of graphs that `createDistGraphAdjacent` gathers by default, by the kind
 * of the strategy (docs/plans-at-scale.md#larger-graphs).
 */
export const planningLimits = Object.fromEntries(
  strategyKinds.map((kind) => [kind, strategies[kind].planningLimit]),
) as Readonly<Record<Strategy['kind'], number>>

/** The most edges of graphs for which a strategy is chosen by default; for larger ones ranks plan direct sends. */
const autoLimit = 2 ** 20

/**
 * Graphs of up to so many edges are gathered in any case if ranks are renumbered, because whole graphs are mapped
 * better.
 */
export const reorderLimit = 2 ** 20

/** Returns the most edges of a graph that is gathered for a strategy by default. */
export function limitOf(strategy: Strategy | AutoStrategy, isReordered = false): number {
  const limit = isAuto(strategy) ? autoLimit : planningLimits[strategy.kind]
  return isReordered ? Math.max(limit, reorderLimit) : limit
}

/** @throws ERR_ARGUMENT for another word, ERR_STRATEGY for an engine that cannot plan that way */
export function checkPlanFrom(strategy: Strategy | AutoStrategy, planFrom: unknown): void {
  if (planFrom !== undefined && !choices.includes(planFrom as PlanFrom)) {
    const expected = "createDistGraphAdjacent: expected planFrom 'graph' or 'neighbors'"
    throw wrongValue('ERR_ARGUMENT', expected, planFrom)
  }
  const engine = groupingOf(strategy)?.engine
  if (planFrom === 'graph' && engine === 'distributed') {
    throw strategyError(
      "engine distributed plans from neighbors, got planFrom 'graph'; engine greedy finds the same",
    )
  }
  const needsGraph = isAuto(strategy) || planningLimits[strategy?.kind] === Number.POSITIVE_INFINITY
  if (planFrom === 'neighbors' && needsGraph)
    throw strategyError(`${strategy.kind} needs the whole graph, got planFrom 'neighbors'`)
  if (planFrom === 'neighbors' && (engine === 'improved' || engine === 'exact'))
    throw strategyError(`engine ${engine} needs the whole graph, got planFrom 'neighbors'`)
}

/** Returns how to plan, or undefined if the size of the graph decides. A single process has the whole graph anyway. */
export function planFromOf(strategy: Strategy | AutoStrategy, processes: number): PlanFrom | undefined {
  const engine = groupingOf(strategy)?.engine
  if (engine === 'distributed') return 'neighbors'
  return engine === undefined && processes > 1 ? undefined : 'graph'
}

/** Options of renumbering ranks. All ranks pass the same. */
export interface ReorderOptions {
  /**
   * The objective that the mapping minimizes. Default `pairs`: the data that leave a node if those for all ranks of a
   * node are sent once.
   */
  readonly objective?: MappingObjective
  /**
   * Nodes of the ranks, and hops between them. Default: the machine of the topology's options, else that of the world,
   * else the world's nodes.
   */
  readonly machine?: Machine
}

const knownOptions: OptionTable<ReorderOptions> = uncheckedOptions('objective', 'machine')

/**
 * Returns the options of a reordering; null if none is wanted.
 *
 * @throws ERR_ARGUMENT, ERR_MACHINE
 */
export function reorderOptions(
  given: boolean | ReorderOptions | undefined,
  machine: Machine | undefined,
): ReorderOptions | null {
  if (given === undefined || given === false) return null
  const byDefault = machine === undefined ? {} : { machine }
  if (given === true) return byDefault
  requireKnownOptions('reorder', given, knownOptions)
  const { objective, machine: own } = given
  if (objective !== undefined && !mappingObjectives.includes(objective)) {
    // That objective needs a strategy, a block length and many simulations, while all ranks wait.
    const remedy = objective === (simulatedTime as string) ? ' (that one is for rankweave map)' : ''
    const expected = `reorder, objective: expected one of ${mappingObjectives.join(', ')}`
    throw new RankweaveError('ERR_ARGUMENT', `${expected}, got ${shown(objective)}${remedy}`)
  }
  if (own !== undefined && !isMachine(own))
    throw wrongValue('ERR_MACHINE', 'reorder: expected a machine', own)
  return { ...byDefault, ...givenOptions(given) }
}

/** Returns the text on which ranks agree. */
export function reorderText(reorder: ReorderOptions | null): string {
  if (reorder === null) return ''
  const { objective = 'pairs', machine } = reorder
  return `reorder ${objective} ${machine === undefined ? '' : formatMachine(machine)}`
}
