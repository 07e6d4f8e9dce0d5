import { requireKnownOptions } from '../../base/known-options.js'
import { wrongValue } from '../../errors.js'
import { isWord } from '../measured/read-measurements.js'
import {
  allAttributes,
  isNumberAttribute,
  type WordAttribute,
  wordAttributes,
} from '../settings/attributes.js'
import { checkSetting } from '../settings/check-setting.js'
import { type DecisionTree, treeLimits } from './decision-tree.js'

type Members = Readonly<Record<string, unknown>>

const members = {
  tree: { settings: true, root: true },
  setting: { collective: true, algorithm: true, parameters: true },
  leaf: { kind: true, setting: true, cases: true, errors: true },
  threshold: { kind: true, attribute: true, atMost: true, below: true, above: true },
  words: { kind: true, attribute: true, branches: true, otherwise: true },
  branch: { word: true, node: true },
} as const

/**
 * Checks a tree that came from a file: every leaf names one of its settings, every test an attribute.
 *
 * @param where the file, for messages
 * @throws ERR_TUNING naming the member that is missing, unknown or out of range; for more than 4,096 settings, 24 tests
 *   on a path or 65,536 nodes
 */
export function checkDecisionTree(where: string, value: unknown): DecisionTree {
  requireMembers(where, value, members.tree)
  const { settings, root } = value as Members
  if (!Array.isArray(settings) || settings.length === 0 || settings.length > treeLimits.settings)
    throw fail(`${where}.settings`, `a list of 1 to ${treeLimits.settings}`, settings)
  // A loop, because `forEach` skips holes of a list.
  for (const [i, setting] of settings.entries()) {
    requireMembers(`${where}.settings[${i}]`, setting, members.setting)
    checkSetting(setting, `${where}.settings[${i}]`, 'ERR_TUNING')
  }
  checkNode(`${where}.root`, root, { settings: settings.length, nodes: 0 }, 0)
  return value as DecisionTree
}

/** The state of a walk through a tree. */
interface Walk {
  readonly settings: number
  nodes: number
}

function checkNode(where: string, node: unknown, walk: Walk, depth: number): void {
  const { kind } = Object(node) as Members
  if (kind !== 'leaf' && kind !== 'threshold' && kind !== 'words')
    throw fail(`${where}.kind`, 'leaf, threshold or words', kind)
  if (++walk.nodes > treeLimits.nodes) throw fail(where, `at most ${treeLimits.nodes} nodes`, 'more')
  if (kind !== 'leaf' && depth === treeLimits.depth)
    throw fail(where, `at most ${treeLimits.depth} tests on a path`, 'more')
  requireMembers(where, node, members[kind])
  if (kind === 'leaf') checkLeaf(where, node as Members, walk)
  else if (kind === 'threshold') checkThreshold(where, node as Members, walk, depth)
  else checkWords(where, node as Members, walk, depth)
}

function checkLeaf(where: string, { setting, cases, errors }: Members, walk: Walk): void {
  if (!isCountTo(setting, walk.settings - 1))
    throw fail(`${where}.setting`, `an integer from 0 to ${walk.settings - 1}`, setting)
  if (!isCountTo(cases, 2 ** 20)) throw fail(`${where}.cases`, 'an integer from 0 to 2^20', cases)
  if (!isCountTo(errors, cases as number))
    throw fail(`${where}.errors`, `an integer from 0 to ${cases}`, errors)
}

function checkThreshold(where: string, node: Members, walk: Walk, depth: number): void {
  const { attribute, atMost, below, above } = node
  const numbers = allAttributes.filter(isNumberAttribute)
  if (!(numbers as readonly unknown[]).includes(attribute))
    throw fail(`${where}.attribute`, `an attribute among ${numbers.join(', ')}`, attribute)
  if (!Number.isFinite(atMost) || (atMost as number) < 0)
    throw fail(`${where}.atMost`, 'a number of at least 0', atMost)
  checkNode(`${where}.below`, below, walk, depth + 1)
  checkNode(`${where}.above`, above, walk, depth + 1)
}

function checkWords(where: string, node: Members, walk: Walk, depth: number): void {
  const { attribute, branches, otherwise } = node
  if (!(wordAttributes as readonly unknown[]).includes(attribute))
    throw fail(`${where}.attribute`, `an attribute among ${wordAttributes.join(', ')}`, attribute)
  if (!Array.isArray(branches) || branches.length === 0 || branches.length > mostWords)
    throw fail(`${where}.branches`, `a list of 1 to ${mostWords}`, branches)
  const known = new Set<unknown>()
  for (const [i, branch] of branches.entries()) {
    const here = `${where}.branches[${i}]`
    requireMembers(here, branch, members.branch)
    const { word, node: child } = branch as Members
    const words = wordsOf[attribute as WordAttribute]
    const isOne = words?.includes(word as string) ?? (word === '' || isWord(word))
    if (known.has(word) || !isOne) throw fail(`${here}.word`, 'a word of the attribute that is new', word)
    known.add(word)
    checkNode(`${here}.node`, child, walk, depth + 1)
  }
  const { kind } = Object(otherwise) as Members
  if (kind !== 'leaf') throw fail(`${where}.otherwise.kind`, 'leaf', kind)
  checkNode(`${where}.otherwise`, otherwise, walk, depth + 1)
}

/** All words of attributes that have few. */
const wordsOf: Partial<Record<WordAttribute, readonly string[]>> = {
  isMemoryShared: ['', 'no', 'yes'],
  evenProcesses: ['no', 'yes'],
  powerOfTwoProcesses: ['no', 'yes'],
}

/** The most branches of a test. */
const mostWords = 256

function requireMembers(where: string, value: unknown, known: object): void {
  requireKnownOptions(where, value, known, 'ERR_TUNING')
  for (const name of Object.keys(known))
    if (!Object.hasOwn(value as object, name)) throw fail(where, `a member ${name}`, 'none')
}

function isCountTo(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
}

function fail(where: string, expected: string, value: unknown) {
  return wrongValue('ERR_TUNING', `${where}: expected ${expected}`, value)
}
