import { jsonDepth, mostJsonDepth } from '../../base/json-depth.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { printable } from '../../text/printable.js'

/** Checks of parsed JSON are written by hand, because a rank line has one object per message. */
export type Json = Readonly<Record<string, unknown>>

/** Integers of a file are below this. */
export const limit = 0x80000000

export function objectOf(value: unknown, where: string, reject: Reject): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) reject(where, 'an object', value)
  return value as Json
}

/** Checks that a value is an object with exactly these keys. */
export function objectWith(value: unknown, keys: readonly string[], where: string, reject: Reject): Json {
  const object = objectOf(value, where, reject)
  let expected = 0
  for (const key of keys) if (object[key] !== undefined) expected++
  let found = 0
  for (const _ in object) found++
  if (expected !== keys.length || found !== keys.length)
    reject(where, `an object with the keys ${keys.join(', ')}`, value)
  return object
}

export function arrayOf(value: unknown, where: string, reject: Reject): readonly unknown[] {
  if (!Array.isArray(value)) reject(where, 'an array', value)
  return value as readonly unknown[]
}

/** Checks that a value is an integer from 0 to `end - 1`. */
export function integer(value: unknown, end: number, where: string, reject: Reject): number {
  if (!isIntegerBelow(value, end)) reject(where, `an integer from 0 to ${end - 1}`, value)
  return value as number
}

export function integers(value: unknown, end: number, where: string, reject: Reject): readonly number[] {
  if (!Array.isArray(value)) reject(where, 'an array of integers', value)
  for (let i = 0; i < value.length; i++) {
    const item: unknown = value[i]
    if (!isIntegerBelow(item, end)) reject(`${where}[${i}]`, `an integer from 0 to ${end - 1}`, item)
  }
  return value as readonly number[]
}

export function isIntegerBelow(value: unknown, end: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < end
}

/** @throws ERR_ARGUMENT unless `lines` is iterable */
export function requireLines(where: string, lines: unknown): void {
  const { [Symbol.iterator]: next, [Symbol.asyncIterator]: nextLater } = Object(lines) as Partial<
    Iterable<string> & AsyncIterable<string>
  >
  if (typeof (next ?? nextLater) === 'function') return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected an iterable`, lines)
}

/** Rejects a line: what was expected, what was found, and where in the line. */
export type Reject = (where: string, expected: string, got: unknown) => never

/** Throws an error with source and line, as `plan.jsonl:17: message`. @throws ERR_SCHEDULE_FORMAT */
export function failAtLine(source: string, line: number, message: string, cause?: unknown): never {
  const text = `${source}:${line}: ${message}`
  throw new RankweaveError('ERR_SCHEDULE_FORMAT', text, { details: { source, line }, cause })
}

/** Returns the value as JSON, truncated for a message. */
export function shownJson(got: unknown): string {
  const text = typeof got === 'string' ? `"${got}"` : (JSON.stringify(got) ?? 'nothing')
  return printable(text.length > 120 ? `${text.slice(0, 120)}...` : text)
}

/** @throws ERR_SCHEDULE_FORMAT */
export function parseLine(text: string, source: string, line: number): unknown {
  if (jsonDepth(text, mostJsonDepth) > mostJsonDepth)
    return failAtLine(source, line, `expected values nested at most ${mostJsonDepth} deep, got deeper ones`)
  try {
    return JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? printable(cause.message) : String(cause)
    const got = foreign.find(([start]) => text.startsWith(start))?.[1]
    const shown = got ?? `one that is malformed or cut off (${reason})`
    return failAtLine(source, line, `expected a line of JSON, got ${shown}`, cause)
  }
}

/**
 * The beginnings of files of other formats, and what to do with them. The first is the first two bytes of gzip, decoded
 * as UTF-8.
 */
const foreign = [
  ['\u001f\ufffd', 'gzip-compressed data; run gunzip first'],
  ['%%MatrixMarket', 'a Matrix Market file; its topology is mtx:FILE:ranks=RANKS'],
] as const
