import type { Collective } from '../../schedule/specification.js'
import type { MeasuredData } from '../measured/measured-data.js'
import type { DecisionNode, DecisionTree } from '../models/decision-tree.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../settings/setting.js'
import { type LearnedTree, type LearnTreeOptions, learnTree } from './learn-tree.js'
import { tolerantCases } from './tolerant-cases.js'

/** A tree over the calls of several collectives, with its decisions for each of them. */
export interface CombinedTree {
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
export function learnCombined(
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
