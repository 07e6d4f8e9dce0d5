import { addToList } from '../../base/maps.js'
import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import {
  type MeasuredData,
  measuredData,
  requireSameElements,
  requireSameSource,
  type SettingSelector,
} from '../measured/measured-data.js'
import type { Measurement } from '../measured/measurement.js'
import { type HeldOutReport, heldOutPenalty, type PenaltyReport, penaltyOf } from '../measured/penalty.js'
import {
  type DecisionNode,
  type DecisionTree,
  inOrder,
  treeLeaves,
  treeSelector,
} from '../models/decision-tree.js'
import { compareWords, defaultAlgorithm, settingLine, type TuningSetting } from '../settings/setting.js'
import {
  allAttributes,
  callKey,
  callProcesses,
  plainAttributes,
  type TuningCall,
} from '../settings/tuning-call.js'
import { type DecisionMap, decidedMap, decisionMap, filledMap } from './decision-map.js'
import { type LearnedTree, type LearnTreeOptions, learnTree } from './learn-tree.js'
import { learnLeastPenaltyTree } from './least-penalty-tree.js'
import { decisionTreeOf, learnQuadtree, type Quadtree } from './quadtree.js'
import { tolerantCases } from './training-cases.js'

export interface LearnDecisionsOptions {
  /**
   * The learner. `least-penalty`: `learnLeastPenaltyTree`; a setting that was measured as `default` stands unless
   * another is shown to be faster. `c45`: C4.5. `quadtree`: processes and bytes only, of calls of one kind. Default
   * `least-penalty`.
   */
  readonly learner?: 'least-penalty' | 'c45' | 'quadtree'
  /**
   * The attributes of trees: `composite` tests products of sizes and properties of numbers, too. Default `composite`.
   */
  readonly attributes?: 'composite' | 'plain'
  /** The least number of calls in two outcomes of every test of a tree. Default 2. */
  readonly minCases?: number
  /** The gain that `least-penalty` requires, as in `learnLeastPenaltyTree`. */
  readonly gainPercent?: number
  /**
   * The tolerance of the other learners: settings that are so much slower than the best may stand for it, as in
   * `tolerantCases`. Default: 5 for C4.5; none for a quadtree, which therefore has the fastest setting of every call.
   */
  readonly tolerancePercent?: number | undefined
  /** The confidence of C4.5, as in `learnTree`. */
  readonly confidencePercent?: number | null
  /** The most tests on a path, or levels of a quadtree. Default: as in `learnTree` and `learnQuadtree`. */
  readonly maxDepth?: number
  /**
   * Whether C4.5 learns one tree over all collectives (`learnCombined`), of which each gets its part. Default false.
   */
  readonly isTogether?: boolean
  /** The threshold of a quadtree, as in `learnQuadtree`. */
  readonly threshold?: number
  /** The number of parts of the numbers of processes, for held-out penalties. Default: as in `heldOutPenalty`. */
  readonly folds?: number
  /**
   * Returns what the library does without decisions if that was not measured as a setting `default`; null: not known.
   * Default: not known.
   */
  readonly ruleOf?: (call: TuningCall) => Pick<TuningSetting, 'algorithm' | 'parameters'> | null
}

/** The decisions for one collective, with their reports. */
export interface LearnedDecisions {
  readonly collective: Collective
  readonly data: MeasuredData
  /** The tree, with only the settings that its leaves name. */
  readonly tree: DecisionTree
  /**
   * The quadtree from which learner `quadtree` makes the tree, with the settings of `data`; null for other learners.
   */
  readonly quadtree: Quadtree | null
  /** The tree over all collectives from which this one is taken; null if each has its own. */
  readonly combined: LearnedTree | null
  /** Returns an index into the settings of `data`. */
  readonly select: SettingSelector
  /** Returns the setting without decisions; undefined if it is not known. */
  readonly selectDefault: SettingSelector | undefined
  readonly leaves: number
  readonly training: PenaltyReport
  /** The held-out penalties; null for fewer than two numbers of processes, and for a tree over all collectives. */
  readonly heldOut: HeldOutReport | null
  /** The penalty without decisions; null if it is not known. */
  readonly default: PenaltyReport | null
}

export const defaultTolerancePercent = 5

/**
 * Returns decisions for every collective of the measurements, by ascending name, with their penalties.
 *
 * A call whose chosen setting has no time counts with the default, by which it would be carried out. It is missing if
 * the default has no time either. For data no longer than a segment, a setting has its time without cuts
 * (`withUncutTimes`).
 *
 * @throws ERR_MEASUREMENT for none, for measurements of different sources, and for reductions of different elements
 * @throws ERR_TUNING if the data do not fit the learner: a quadtree takes calls of one kind and one spread over nodes
 *   for each number of processes
 * @throws ERR_ARGUMENT for options out of range
 */
export function learnDecisions(
  measurements: readonly Measurement[],
  options: LearnDecisionsOptions = {},
): readonly LearnedDecisions[] {
  for (const { source } of measurements) requireSameSource(measurements[0].source, source)
  requireSameElements(measurements)
  if (measurements.length === 0) measuredData([])
  const byCollective = new Map<Collective, Measurement[]>()
  for (const measurement of measurements) addToList(byCollective, measurement.collective, measurement)
  const all = new Map(
    [...byCollective]
      .sort(([a], [b]) => compareWords(a, b))
      .map(([collective, own]) => [collective, measuredData(withUncutTimes(own))]),
  )
  const together = options.isTogether === true ? learnTogether(all, options) : undefined
  return [...all].map(([collective, data]) => learnOne(collective, data, options, together))
}

function learnTogether(
  all: ReadonlyMap<Collective, MeasuredData>,
  options: LearnDecisionsOptions,
): CombinedTree {
  const { learner, tolerancePercent = defaultTolerancePercent } = options
  if (learner !== 'c45') throw wrongValue('ERR_ARGUMENT', 'expected learner c45 for one tree of all', learner)
  return learnCombined(all, tolerancePercent, treeOptions(options))
}

function learnOne(
  collective: Collective,
  data: MeasuredData,
  options: LearnDecisionsOptions,
  together: CombinedTree | undefined,
): LearnedDecisions {
  const selectDefault = defaultSelector(data, options)
  const learn = (training: MeasuredData) => learnedTree(training, selectDefault, options).tree
  const { tree, quadtree } =
    together === undefined
      ? learnedTree(data, selectDefault, options)
      : { tree: together.trees.get(collective)!, quadtree: null }
  const select = treeSelector(tree)
  const { folds } = options
  const fallback = selectDefault === undefined ? {} : { fallback: selectDefault }
  const isHeldOut = together === undefined && new Set(data.calls.map(callProcesses)).size > 1
  return {
    ...{ collective, data, tree: withUsedSettings(tree), quadtree, select, selectDefault },
    combined: together?.learned ?? null,
    leaves: treeLeaves(tree).length,
    training: penaltyOf(data, select, selectDefault),
    heldOut: isHeldOut
      ? heldOutPenalty(data, (training) => treeSelector(learn(training)), {
          ...fallback,
          ...(folds === undefined ? {} : { folds }),
        })
      : null,
    default: selectDefault === undefined ? null : penaltyOf(data, selectDefault),
  }
}

function learnedTree(
  data: MeasuredData,
  fallback: SettingSelector | undefined,
  options: LearnDecisionsOptions,
): Pick<LearnedDecisions, 'tree' | 'quadtree'> {
  const { learner = 'least-penalty', maxDepth } = options
  const { confidencePercent: _, ...ofTrees } = treeOptions(options)
  if (learner === 'least-penalty') {
    const { gainPercent } = options
    const tree = learnLeastPenaltyTree(data, {
      ...{ ...ofTrees, standard: standardSetting(data) },
      ...(gainPercent === undefined ? {} : { gainPercent }),
      ...(fallback === undefined ? {} : { fallback }),
    })
    return { tree, quadtree: null }
  }
  const { tolerancePercent, threshold } = options
  if (learner === 'quadtree') {
    const quadtree = learnQuadtree(filledMap(caseMap(data, tolerancePercent)), {
      ...(maxDepth === undefined ? {} : { maxDepth }),
      ...(threshold === undefined ? {} : { threshold }),
    })
    return { tree: decisionTreeOf(quadtree), quadtree }
  }
  if (learner !== 'c45')
    throw wrongValue('ERR_ARGUMENT', 'expected learner as least-penalty, c45 or quadtree', learner)
  const cases = tolerantCases(data, tolerancePercent ?? defaultTolerancePercent)
  const { tree } = learnTree(cases, data.settings, treeOptions(options))
  return { tree, quadtree: null }
}

function treeOptions({ attributes, confidencePercent, minCases, maxDepth }: LearnDecisionsOptions) {
  return {
    attributes: attributes === 'plain' ? plainAttributes : allAttributes,
    ...(confidencePercent === undefined ? {} : { confidencePercent }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
    ...(minCases === undefined ? {} : { minCases }),
  }
}

/** Returns the map of the fastest setting of every call, or of one that may stand for it. */
function caseMap(data: MeasuredData, tolerancePercent: number | undefined): DecisionMap {
  if (tolerancePercent === undefined) return decisionMap(data)
  const chosen = new Map(tolerantCases(data, tolerancePercent).map(({ call, setting }) => [call, setting]))
  return decidedMap(data, (call) => chosen.get(call)!)
}

/** Returns the index of the setting that was measured as `default`, or -1. */
function standardSetting({ settings }: MeasuredData): number {
  return settings.findIndex(({ algorithm }) => algorithm === defaultAlgorithm)
}

/** Selects the setting that was measured as `default`, else that of the rule. */
function defaultSelector(data: MeasuredData, { ruleOf }: LearnDecisionsOptions): SettingSelector | undefined {
  const measured = standardSetting(data)
  if (measured >= 0) return () => measured
  if (ruleOf === undefined) return undefined
  const index = new Map(data.settings.map((setting, i) => [settingLine(setting), i]))
  return (call) => {
    const chosen = ruleOf(call)
    return chosen === null ? -1 : (index.get(settingLine({ ...chosen, collective: call.collective })) ?? -1)
  }
}

function withUsedSettings({ settings, root }: DecisionTree): DecisionTree {
  const used = new Set<number>()
  const collect = (node: DecisionNode): void => {
    if (node.kind === 'leaf') used.add(node.setting)
    else for (const child of inOrder(node)) collect(child)
  }
  collect(root)
  const kept = [...used].sort((a, b) => a - b)
  const place = new Map(kept.map((setting, i) => [setting, i]))
  const renamed = <N extends DecisionNode>(node: N): N => {
    switch (node.kind) {
      case 'leaf':
        return { ...node, setting: place.get(node.setting)! }
      case 'threshold':
        return { ...node, below: renamed(node.below), above: renamed(node.above) }
      case 'words': {
        const branches = node.branches.map((branch) => ({ ...branch, node: renamed(branch.node) }))
        return { ...node, branches, otherwise: renamed(node.otherwise) }
      }
    }
  }
  return { settings: kept.map((setting) => settings[setting]), root: renamed(root) }
}

/** A tree over the calls of several collectives, with its decisions for each of them. */
interface CombinedTree {
  readonly learned: LearnedTree
  /**
   * The trees by collective, with the settings of its data. A leaf whose setting the collective does not have names a
   * last one, `default`.
   */
  readonly trees: ReadonlyMap<Collective, DecisionTree>
}

/**
 * Learns one tree by C4.5 over the calls of all collectives, which may test the collective like any other word. Its
 * classes are algorithms without the name of their collective, `binomial` for both a broadcast and a reduction, so that
 * collectives share leaves.
 *
 * @param all measured data, each of one collective
 * @throws ERR_TUNING, ERR_ARGUMENT as of `learnTree`
 * @see Pjesivac-Grbovic 2007 Table 6.8
 */
function learnCombined(
  all: ReadonlyMap<Collective, MeasuredData>,
  tolerancePercent: number,
  options: LearnTreeOptions,
): CombinedTree {
  const classes: TuningSetting[] = []
  const classOf = new Map<string, number>()
  const cases = [...all.values()].flatMap((data) =>
    tolerantCases(data, tolerancePercent).map(({ call, setting }) => {
      const line = sharedLine(data.settings[setting])
      const known = classOf.get(line) ?? classes.push(data.settings[setting]) - 1
      classOf.set(line, known)
      return { call, setting: known }
    }),
  )
  const learned = learnTree(cases, classes, options)
  const trees = new Map<Collective, DecisionTree>()
  for (const [collective, { settings }] of all) {
    const indexOf = new Map(settings.map((setting, i) => [sharedLine(setting), i]))
    const own = classes.map((setting) => indexOf.get(sharedLine(setting)) ?? settings.length)
    const standard: TuningSetting = { collective, algorithm: defaultAlgorithm, parameters: {} }
    const root = restricted(learned.tree.root, collective, own)
    trees.set(collective, { settings: [...settings, standard], root })
  }
  return { learned, trees }
}

/** Returns a setting without its collective: `chain segment=8192` of `bcast-chain segment=8192`. */
function sharedLine(setting: TuningSetting): string {
  return settingLine({ ...setting, algorithm: setting.algorithm.replace(`${setting.collective}-`, '') })
}

/** Returns the part of a tree that calls of one collective pass. @param own setting of every class */
function restricted(node: DecisionNode, collective: Collective, own: readonly number[]): DecisionNode {
  const of = <N extends DecisionNode>(other: N): N => restricted(other, collective, own) as N
  switch (node.kind) {
    case 'leaf':
      return { ...node, setting: own[node.setting] }
    case 'threshold':
      return { ...node, below: of(node.below), above: of(node.above) }
    case 'words': {
      const { branches, otherwise } = node
      if (node.attribute === 'collective')
        return of(branches.find(({ word }) => word === collective)?.node ?? otherwise)
      return {
        ...node,
        branches: branches.map((each) => ({ ...each, node: of(each.node) })),
        otherwise: of(otherwise),
      }
    }
  }
}

/**
 * Returns measurements, and those of settings with segments at calls whose data are no longer than a segment. Such
 * calls are carried out without a cut, so the times are those of the same setting without segments.
 *
 * Settings are not measured there. Without these times a leaf would seem to leave such calls to the default.
 *
 * @param measurements of one collective
 */
export function withUncutTimes(measurements: readonly Measurement[]): readonly Measurement[] {
  const cut = new Map<string, TuningSetting[]>()
  for (const measurement of distinctSettings(measurements)) {
    const whole = wholeLine(measurement)
    if (isCut(measurement)) cut.set(whole, [...(cut.get(whole) ?? []), measurement])
  }
  const keyOf = (measurement: Measurement, line: string) => `${callKey(measurement)} ${line}`
  const known = new Set(measurements.map((each) => keyOf(each, settingLine(each))))
  const uncut = measurements.flatMap((measurement) =>
    isCut(measurement)
      ? []
      : (cut.get(wholeLine(measurement)) ?? [])
          .filter(({ parameters }) => parameters['segment'] >= measurement.bytes)
          .filter((setting) => !known.has(keyOf(measurement, settingLine(setting))))
          .map(({ parameters }) => ({ ...measurement, parameters })),
  )
  return [...measurements, ...uncut]
}

function isCut({ parameters }: TuningSetting): boolean {
  return (parameters['segment'] ?? 0) > 0
}

function distinctSettings(measurements: readonly Measurement[]): Iterable<TuningSetting> {
  return new Map(measurements.map((each) => [settingLine(each), each])).values()
}

/** Returns the text of a setting without its segments. */
function wholeLine({ collective, algorithm, parameters }: TuningSetting): string {
  const { segment: _, ...others } = parameters
  return settingLine({ collective, algorithm, parameters: others })
}
