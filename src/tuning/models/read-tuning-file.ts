import { jsonDepth } from '../../base/json-depth.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { checkSource } from '../measured/check-source.js'
import type { MeasurementSource } from '../measured/measurement.js'
import { decidedCollectives } from '../settings/check-setting.js'
import { fnvHash } from '../settings/fnv-hash.js'
import { checkDecisionGrid } from './check-decision-grid.js'
import { checkDecisionTree } from './check-decision-tree.js'
import { requireOwnSource } from './require-own-source.js'
import type { TreeOrGrid } from './tree-or-grid.js'
import { type TuningFile, tuningFormat, tuningVersion } from './tuning-file.js'

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
