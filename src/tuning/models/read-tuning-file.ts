import { jsonDepth } from '../../base/json-depth.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { checkSource, isWord, type MeasurementSource } from '../measured/measurement.js'
import { checkSetting, decidedCollectives } from '../settings/setting.js'
import {
  allAttributes,
  callLimits,
  isNumberAttribute,
  type WordAttribute,
  wordAttributes,
} from '../settings/tuning-call.js'
import { type CellAxes, type DecisionGrid, openGrid } from './decision-grid.js'
import { type DecisionTree, treeLimits } from './decision-tree.js'
import { fnvHash, type TreeOrGrid, type TuningFile, tuningFormat, tuningVersion } from './tuning-file.js'

/** The limits of a tuning file: bytes of UTF-8, and levels of lists and objects. */
export const tuningFileLimits = { bytes: 2 ** 24, levels: 44 } as const

const members: Readonly<Record<keyof TuningFile, true>> = {
  ...{ format: true, version: true, source: true, decisions: true, checksum: true },
}

/**
 * Returns a checked tuning file from its text.
 *
 * Time and memory: in proportion to the text.
 *
 * @param where the file, for messages
 * @throws ERR_TUNING naming the member that is missing, unknown or out of range; for a text that is too long or not
 *   JSON, another format or version, a setting of another collective than its tree, and another checksum
 */
export function readTuningFile(text: string, where = 'tuning file'): TuningFile {
  const { bytes, levels } = tuningFileLimits
  if (typeof text !== 'string') throw fail(where, 'a text', text)
  if (text.length > bytes) throw fail(where, `at most ${bytes} bytes`, text.length)
  if (jsonDepth(text, levels) > levels)
    throw fail(where, `at most ${levels} levels of lists and objects`, 'more')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new RankweaveError('ERR_TUNING', `${where}: expected JSON, got ${contentText(text)}`, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail(where, 'an object', value)
  const file = value as Readonly<Record<string, unknown>>
  // Format and version come first, because other files may have other members.
  if (file['format'] !== tuningFormat)
    throw fail(`${where}, format`, `'${tuningFormat}', as rankweave tune writes it`, file['format'])
  if (file['version'] !== tuningVersion)
    throw fail(`${where}, version`, String(tuningVersion), file['version'])
  requireKnownOptions(where, file, members, 'ERR_TUNING')
  checkSource(file['source'], where, 'ERR_TUNING')
  checkDecisions(`${where}, decisions`, file['decisions'])
  checkChecksum(where, text, file['checksum'])
  return file as unknown as TuningFile
}

/**
 * Checks a tuning file that a program holds as a value, for example from JSON.parse.
 *
 * @throws ERR_TUNING as {@link readTuningFile}
 */
export function checkTuningFile(value: unknown, where = 'tuning'): TuningFile {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new RankweaveError('ERR_TUNING', `${where}: expected plain data, got ${shown(value)}`, { cause })
  }
  if (text === undefined) throw fail(where, 'an object', value)
  return readTuningFile(text, where)
}

/**
 * Checks a tuning file as {@link checkTuningFile} does, for a world on a fabric.
 *
 * @throws ERR_TUNING also for decisions of an MPI library, or measured on another fabric
 */
export function ownTuning(where: string, value: unknown, fabric: string): TuningFile {
  const file = checkTuningFile(value, `${where}, tuning`)
  requireOwnSource(where, file, fabric)
  return file
}

/** Returns the text of a tuning file, with a line end. @throws ERR_TUNING for decisions that cannot be read */
export function formatTuningFile(
  source: MeasurementSource,
  decisions: Readonly<Partial<Record<Collective, TreeOrGrid>>>,
): string {
  const { kind, name, machine } = source
  const content = JSON.stringify({
    ...{ format: tuningFormat, version: tuningVersion },
    ...{ source: { kind, name, machine }, decisions },
  }).slice(0, -1)
  const text = `${content},"checksum":"${checksumOf(content)}"}`
  readTuningFile(text)
  return `${text}\n`
}

/** Returns the content of a file for a message. Control characters of a file that is not text would not be readable. */
function contentText(content: string): string {
  const isText = !/(?![\t\n\r])[\p{Cc}\uFFFD]/u.test(content)
  return isText ? shown(content) : `${content.length} characters that are not text`
}

function checkDecisions(where: string, decisions: unknown): void {
  const known = Object.fromEntries(decidedCollectives.map((name) => [name, true]))
  requireKnownOptions(where, decisions, known, 'ERR_TUNING')
  const entries = Object.entries(decisions as Readonly<Record<string, unknown>>)
  if (entries.length === 0) throw fail(where, 'the tree or grid of a collective at least', 'none')
  for (const [collective, value] of entries) {
    const check = Object(value).kind === 'grid' ? checkDecisionGrid : checkDecisionTree
    const { settings } = check(`${where}.${collective}`, value)
    settings.forEach((setting, i) => {
      if (setting.collective === collective) return
      throw fail(`${where}.${collective}.settings[${i}].collective`, collective, setting.collective)
    })
  }
}

function checkChecksum(where: string, text: string, given: unknown): void {
  const ending = /,"checksum":"([0-9a-f]{16})"\}$/.exec(withoutSpace(text))
  if (ending === null) throw fail(`${where}, checksum`, '16 hexadecimal digits, as the last member', given)
  const expected = checksumOf(ending.input.slice(0, ending.index))
  if (ending[1] === expected) return
  throw fail(`${where}, checksum`, `${expected}: the file was damaged, or edited by hand`, given)
}

function checksumOf(content: string): string {
  return fnvHash(new TextEncoder().encode(content))
}

/** Removes spaces, tabs and ends of lines outside of strings. */
function withoutSpace(text: string): string {
  const parts: string[] = []
  let start = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isInText = !isInText
    else if (isInText) at += character === '\\' ? 1 : 0
    else if (character === ' ' || character === '\t' || character === '\r' || character === '\n') {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return `${parts.join('')}${text.slice(start)}`
}

function fail(where: string, expected: string, value: unknown): RankweaveError {
  return wrongValue('ERR_TUNING', `${where}: expected ${expected}`, value)
}

type Members = Readonly<Record<string, unknown>>

const treeMembers = {
  tree: { settings: true, root: true },
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
  requireMembers(where, value, treeMembers.tree)
  const { settings, root } = value as Members
  const count = checkSettings(`${where}.settings`, settings, treeLimits.settings)
  checkNode(`${where}.root`, root, { settings: count, nodes: 0 }, 0)
  return value as DecisionTree
}

const settingMembers = { collective: true, algorithm: true, parameters: true } as const

/** Checks the settings that a tree or a grid names by their numbers, and returns how many they are. */
function checkSettings(where: string, settings: unknown, most: number): number {
  if (!Array.isArray(settings) || settings.length === 0 || settings.length > most)
    throw fail(where, `a list of 1 to ${most}`, settings)
  // This is a loop, because `forEach` skips holes of a list.
  for (const [i, setting] of settings.entries()) {
    requireMembers(`${where}[${i}]`, setting, settingMembers)
    checkSetting(setting, `${where}[${i}]`, 'ERR_TUNING')
  }
  return settings.length
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
  requireMembers(where, node, treeMembers[kind])
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
    requireMembers(here, branch, treeMembers.branch)
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

const gridLimits = { settings: 4095, edges: 64, cells: 2 ** 16 } as const

const axisLimits: Readonly<Record<keyof CellAxes, readonly [number, number]>> = {
  bytes: [0, callLimits.bytes],
  nodes: [1, callLimits.processes],
  processesPerNode: [1, callLimits.processes],
}

const gridMembers = {
  ...{ kind: true, settings: true, axes: true, isTrained: true, best: true, performances: true },
  excluded: true,
} as const

/**
 * Checks a grid that came from a file.
 *
 * @param where the file, for messages
 * @throws ERR_TUNING naming the member that is missing, unknown or out of range; for more than 4,095 settings, 64 edges
 *   of an axis or 65,536 cells
 */
export function checkDecisionGrid(where: string, value: unknown): DecisionGrid {
  requireKnownOptions(where, value, gridMembers, 'ERR_TUNING')
  const { settings, axes, isTrained, best, performances, excluded } = value as Members
  const count = checkSettings(`${where}.settings`, settings, gridLimits.settings)
  checkAxes(`${where}.axes`, axes)
  if (typeof isTrained !== 'boolean') throw fail(`${where}.isTrained`, 'true or false', isTrained)
  if (typeof best !== 'string') throw fail(`${where}.best`, 'base64', best)
  if (performances !== undefined && typeof performances !== 'string')
    throw fail(`${where}.performances`, 'base64', performances)
  if (excluded !== undefined) checkExcluded(`${where}.excluded`, excluded, count)
  const grid = value as DecisionGrid
  openGrid(where, grid)
  return grid
}

function checkExcluded(where: string, excluded: unknown, settings: number): void {
  const isNumber = (number: unknown) =>
    Number.isInteger(number) && (number as number) >= 1 && (number as number) <= settings
  if (!Array.isArray(excluded) || !excluded.every(isNumber) || new Set(excluded).size !== excluded.length)
    throw fail(where, `numbers from 1 to ${settings}, each once`, excluded)
}

function checkAxes(where: string, axes: unknown): void {
  requireKnownOptions(where, axes, axisLimits, 'ERR_TUNING')
  let cells = 1
  for (const [name, [least, most]] of Object.entries(axisLimits)) {
    const edges = (axes as Members)[name]
    const isAscending =
      Array.isArray(edges) &&
      edges.length > 0 &&
      edges.length <= gridLimits.edges &&
      edges[0] === least &&
      edges.every((edge, i) => Number.isSafeInteger(edge) && edge <= most && (i === 0 || edge > edges[i - 1]))
    if (!isAscending)
      throw fail(
        `${where}.${name}`,
        `1 to ${gridLimits.edges} ascending integers from ${least} to ${most}`,
        edges,
      )
    cells *= edges.length
  }
  if (cells > gridLimits.cells) throw fail(where, `at most ${gridLimits.cells} cells`, cells)
}

/**
 * Refuses the decisions of an MPI library, and those that were measured on another fabric. A fabric is known by its
 * name, which more words may follow, as in `mpi (Open MPI 4.1.4)`.
 *
 * @param fabric of the world
 * @throws ERR_TUNING
 */
export function requireOwnSource(where: string, { source }: TuningFile, fabric: string): void {
  const { kind, name, machine } = source
  const measured = `'${name}' on '${machine}'`
  if (kind === 'mpi') {
    const expected = `${where}: expected decisions for the algorithms of Rankweave, got those of ${measured}`
    const remedy = 'they are for MPI programs, by the preloaded library: RANKWEAVE_SHIM=tune:FILE'
    throw new RankweaveError('ERR_TUNING', `${expected}; ${remedy}`)
  }
  if (kind !== 'rankweave' || name === fabric || name.startsWith(`${fabric} `)) return
  const message = `${where}: expected decisions measured on fabric ${fabric}, got those of ${measured}`
  throw new RankweaveError('ERR_TUNING', message)
}
