import { RankweaveError, shown } from '../../errors.js'

/**
 * Who finds the groups of a round. `greedy`: the heaviest first, on one core, lazily. `distributed`: the same groups,
 * found by the ranks themselves, each from its neighbors. `improved`: greedy, then local search; weighs as much or
 * more, above k = 12 the same. `exact`: the heaviest matching there is, for small topologies; needs {@link
 * prepareEngine}.
 */
export type GroupingEngine = (typeof groupingEngines)[number]

export const groupingEngines = ['greedy', 'distributed', 'improved', 'exact'] as const

export interface GroupingOptions {
  /** Friends per group, at least 2. */
  readonly k: number
  /** `aware`: friends share a node. `agnostic`: any ranks. */
  readonly mode: 'agnostic' | 'aware'
  /** A group needs strictly more common neighbors than this. Default k (aware), k(k-1) (agnostic). */
  readonly theta?: number
  /** Node of every rank. Needed in aware mode, not read in agnostic mode. */
  readonly nodeOf?: Int32Array | null
  /** Default `greedy`. */
  readonly engine?: GroupingEngine
  /**
   * Which of equally heavy groups comes first: the one with the smallest ranks, or the smallest in a permutation that
   * this seed gives. A permutation makes chains of ranks that wait for each other shorter; it tiles grids worse.
   * Default: ranks.
   */
  readonly labelSeed?: number
  /** Told of every group as it is found, so that long planning can be followed. */
  readonly onGroup?: (step: number, groups: number) => void
  /** Milliseconds; only differences count. Default `performance.now`. */
  readonly now?: () => number
}

/** Members that a search for a group can go through. */
export const largestGroup = 256

/** What the engines need to know, checked. */
export interface GroupingSettings {
  readonly k: number
  readonly mode: 'agnostic' | 'aware'
  readonly theta: number
  readonly nodeOf: Int32Array | null
  readonly engine: GroupingEngine
  readonly labelSeed: number | null
}

/**
 * The threshold when none is given: with more common neighbors than this a group sends less in all than its members
 * would alone (aware), or than groups of k-1 would (agnostic).
 *
 * @see Ghazimirsaeed 2019 §7.3.3
 */
export function defaultTheta(k: number, mode: 'agnostic' | 'aware'): number {
  return mode === 'aware' ? k : k * (k - 1)
}

/** @throws ERR_STRATEGY k < 2, theta not a whole number >= 0, nodes for another number of ranks */
export function checkFriendOptions(ranks: number, k: number, theta: number, nodeOf: Int32Array | null): void {
  if (!Number.isInteger(k) || k < 2) throw refused(`expected k, a whole number >= 2, got ${k}`)
  if (!Number.isInteger(theta) || theta < 0)
    throw refused(`expected theta, a whole number >= 0, got ${theta}`)
  if (nodeOf !== null && nodeOf.length !== ranks)
    throw refused(`expected a node for each of ${ranks} ranks, got ${nodeOf.length}`)
}

/** @throws ERR_STRATEGY an engine that is none or not for this k, a seed that is no unsigned 32-bit integer */
export function checkEngine(engine: unknown, labelSeed: unknown, k: number): void {
  if (engine !== undefined && !groupingEngines.includes(engine as GroupingEngine))
    throw refused(`expected engine ${groupingEngines.join(', ')}, got ${shown(engine)}`)
  if (engine === 'distributed' && k > largestGroup)
    throw refused(`engine distributed: expected k of at most ${largestGroup}, got ${k}`)
  if (labelSeed === undefined) return
  if (!Number.isInteger(labelSeed) || (labelSeed as number) < 0 || (labelSeed as number) >= 2 ** 32)
    throw refused(`expected labelSeed, a whole number below 2^32, got ${shown(labelSeed)}`)
}

/** @throws ERR_STRATEGY */
export function groupingSettings(ranks: number, options: GroupingOptions): GroupingSettings {
  const { k, mode, engine = 'greedy', labelSeed } = options
  if (mode !== 'aware' && mode !== 'agnostic') throw refused(`expected mode aware or agnostic, got ${mode}`)
  checkEngine(engine, labelSeed, k)
  const theta = options.theta ?? defaultTheta(k, mode)
  const nodeOf = mode === 'aware' ? (options.nodeOf ?? null) : null
  checkFriendOptions(ranks, k, theta, nodeOf)
  if (mode === 'aware' && nodeOf === null)
    throw refused('aware mode needs the node of every rank: give a machine')
  return { k, mode, theta, nodeOf, engine, labelSeed: labelSeed ?? null }
}

export function refused(message: string): RankweaveError {
  return new RankweaveError('ERR_STRATEGY', message)
}
