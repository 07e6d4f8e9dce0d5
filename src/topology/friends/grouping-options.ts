import { requireNotAborted } from '../../base/abort.js'
import { integerOption, type OptionTable, uncheckedOptions, wordOption } from '../../base/option.js'
import { checkValues, withDefaults } from '../../base/option-table.js'
import { drawnPermutation, mulberry32 } from '../../base/random.js'
import { RankweaveError, shown } from '../../errors.js'

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

/** The progress of the search for friend groups. */
export interface GroupingProgress {
  /** The number of completed rounds; 0 with engine `distributed`, where every rank is in its own round. */
  readonly step: number
  /** The number of groups found in all rounds; 0 with engine `distributed`, where each rank knows only its own. */
  readonly groups: number
  /** Searches for the best group of one rank and, with engine `improved`, for better groups of a few ranks. */
  readonly searches: number
  /**
   * `searching`: for the heaviest groups; `improving`: by local search; engine `exact` is `listing` all possible
   * groups, then `solving`.
   */
  readonly activity: 'searching' | 'improving' | 'listing' | 'solving'
  /** The number of possible groups of the round that engine `exact` has listed; 0 with the others. */
  readonly possible: number
}

/** The number of steps between two reports: some milliseconds, so that reports are frequent and cost little. */
const stepsPerReport = 2 ** 22

/**
 * Counts the work of a search, and reports it from inside: a search of one rank alone may take seconds. An
 * aborted signal ends the search where it is reported.
 */
export class ProgressMeter {
  step = 0
  groups = 0
  searches = 0
  activity: GroupingProgress['activity'] = 'searching'
  possible = 0
  #steps = 0
  readonly #onProgress: ((progress: GroupingProgress) => void) | undefined
  readonly #signal: AbortSignal | undefined

  /** @throws ERR_ABORTED when `signal` has been aborted */
  constructor(onProgress?: (progress: GroupingProgress) => void, signal?: AbortSignal) {
    this.#onProgress = onProgress
    this.#signal = signal
    this.#requireNotAborted()
  }

  /** Whether a caller follows the search, or can end it. */
  get isWatched(): boolean {
    return this.#onProgress !== undefined || this.#signal !== undefined
  }

  /** @param steps words of bitsets read, about */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps < stepsPerReport) return
    this.#steps = 0
    this.report()
  }

  /** @throws ERR_ABORTED when the signal has been aborted; the errors of `onProgress` */
  report(): void {
    this.#requireNotAborted()
    const { step, groups, searches, activity, possible } = this
    this.#onProgress?.({ step, groups, searches, activity, possible })
    this.#requireNotAborted()
  }

  #requireNotAborted(): void {
    requireNotAborted('the search for friend groups', this.#signal)
  }
}

/** Returns the label of every rank: a permutation drawn with the seed, the same on every machine. */
export function seededLabels(ranks: number, seed: number): Int32Array {
  return drawnPermutation(mulberry32(seed), ranks)
}
