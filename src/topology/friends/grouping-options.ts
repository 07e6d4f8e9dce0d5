import { integerOption, type OptionTable, uncheckedOptions, wordOption } from '../../base/option.js'
import { checkValues, withDefaults } from '../../base/option-table.js'
import { RankweaveError, shown } from '../../errors.js'
import type { GroupingProgress } from './grouping-progress.js'

/**
 * The engine that finds the groups of a round. `greedy`: the heaviest first, on one core, lazily. `distributed`: the
 * same groups, found by the ranks themselves, each from its neighbors; only in `createDistGraphAdjacent`. `improved`:
 * greedy, then local search; as heavy or heavier, above k = 12 the same. `exact`: the heaviest grouping, for small
 * topologies; needs the optional package `highs`.
 */
export type GroupingEngine = (typeof groupingEngines)[number]

export const groupingEngines = ['greedy', 'distributed', 'improved', 'exact'] as const

export interface GroupingOptions {
  /** The number of friends per group, at least 2. */
  readonly k: number
  /** `aware`: friends share a node. `agnostic`: any ranks. */
  readonly mode: 'agnostic' | 'aware'
  /** A group needs strictly more common neighbors than this. Default k (aware), k(k-1) (agnostic). */
  readonly theta?: number
  /** Node of every rank. Required in aware mode, ignored in agnostic mode. */
  readonly nodeOf?: Int32Array | null
  /** Default `greedy`. */
  readonly engine?: GroupingEngine
  /**
   * Breaks ties between equally heavy groups: the smallest ranks in a permutation drawn with this seed come
   * first. Default: the smallest ranks. A permutation shortens chains of ranks that wait for each other, but
   * tiles grids worse.
   */
  readonly labelSeed?: number
  /**
   * A member loses only the common neighbors that its friends serve, and may hand over those that it serves itself in a
   * later group. Engine `greedy` only. Default false.
   */
  readonly cumulative?: boolean
  /** Reports every group as it is found. */
  readonly onGroup?: (step: number, groups: number) => void
  /**
   * Reports progress from inside the search about every ten milliseconds. The search does not yield to the event loop,
   * so timers and signals wait for its end. An error that it throws ends the search and reaches the caller.
   */
  readonly onProgress?: (progress: GroupingProgress) => void
  /**
   * Ends the search with ERR_ABORTED. The search reads it before it begins, and before and after each call of
   * `onProgress`. Only `onProgress` and `onGroup` can abort it while the search holds the event loop.
   */
  readonly signal?: AbortSignal
  /** The clock, in milliseconds; only differences count. Default `performance.now`. */
  readonly now?: () => number
}

/** The options that decide which groups are found. */
export const friendOptions = {
  // A k larger than the number of ranks is legal and makes no groups.
  k: integerOption({
    ...{ least: 2, most: 2 ** 20 },
    help: 'friends per group',
    default: 2,
    required: true,
  }),
  mode: wordOption(['aware', 'agnostic'], {
    help: 'whether friends share a node (aware) or are any ranks (agnostic)',
    default: 'agnostic',
    required: true,
  }),
  theta: integerOption({
    ...{ least: 0, most: 2 ** 31 - 1 },
    help: 'a group needs more common neighbors than this',
    computed: 'k when aware, k(k-1) when agnostic',
  }),
  engine: wordOption(groupingEngines, { help: 'how friends are grouped', default: 'greedy' }),
  labelSeed: integerOption({
    ...{ least: 0, most: 2 ** 32 - 1, word: 'labels' },
    help: 'break ties between groups by a permutation of the ranks',
    computed: 'by the ranks themselves',
  }),
} satisfies OptionTable<Pick<GroupingOptions, 'k' | 'mode' | 'theta' | 'engine' | 'labelSeed'>>

export const groupingOptions: OptionTable<GroupingOptions> = {
  ...friendOptions,
  ...uncheckedOptions('nodeOf', 'cumulative', 'onGroup', 'onProgress', 'signal', 'now'),
}

/** The most members of a group that a search supports. */
export const largestGroup = 256

export interface GroupingSettings {
  readonly k: number
  readonly mode: 'agnostic' | 'aware'
  readonly theta: number
  readonly nodeOf: Int32Array | null
  readonly engine: GroupingEngine
  readonly labelSeed: number | null
}

/**
 * Returns the default threshold: a group with more common neighbors than this sends fewer messages than its members
 * alone would (aware), or than groups of k-1 would (agnostic).
 *
 * @see Ghazimirsaeed 2019 §7.3.3
 */
export function defaultTheta(k: number, mode: 'agnostic' | 'aware'): number {
  return mode === 'aware' ? k : k * (k - 1)
}

/** @throws ERR_STRATEGY nodes for another number of ranks */
export function requireNodes(ranks: number, nodeOf: Int32Array | null): void {
  if (nodeOf !== null && Object(nodeOf).length !== ranks)
    throw strategyError(`expected a node for each of ${ranks} ranks, got ${nodeOf?.length ?? shown(nodeOf)}`)
}

/** @throws ERR_STRATEGY k too large for the engine */
export function requireSearchable({ engine, k }: Pick<GroupingOptions, 'engine' | 'k'>): void {
  if (engine === 'distributed' && k > largestGroup)
    throw strategyError(`engine distributed: expected k of at most ${largestGroup}, got ${k}`)
}

/** @throws ERR_STRATEGY */
export function groupingSettings(ranks: number, options: GroupingOptions): GroupingSettings {
  const settings = settingsWithoutNodes(options)
  const nodeOf = settings.mode === 'aware' ? (options.nodeOf ?? null) : null
  requireNodes(ranks, nodeOf)
  if (settings.mode === 'aware' && nodeOf === null)
    throw strategyError('aware mode needs the node of every rank: pass a machine')
  return { ...settings, nodeOf }
}

/** Checks the settings of ranks that know only the nodes of their neighbors. @throws ERR_STRATEGY */
export function settingsWithoutNodes(options: GroupingOptions): Omit<GroupingSettings, 'nodeOf'> {
  checkValues('friend groups', friendOptions, options, 'ERR_STRATEGY')
  requireSearchable(options)
  const {
    k,
    mode,
    theta = defaultTheta(k, mode),
    engine,
    labelSeed = null,
  } = withDefaults(friendOptions, options)
  return { k, mode, theta, engine, labelSeed }
}

/**
 * Refuses the engine `distributed` if one process has the whole topology.
 *
 * @throws ERR_STRATEGY
 */
export function refuseSimulation(where: string, engine: GroupingEngine | undefined): void {
  if (engine !== 'distributed') return
  throw strategyError(
    `${where}: engine distributed is for ranks that know only their own neighbors (createDistGraphAdjacent); ` +
      'here every process would simulate all ranks: use greedy, which finds the same groups',
  )
}

export function strategyError(message: string): RankweaveError {
  return new RankweaveError('ERR_STRATEGY', message)
}
