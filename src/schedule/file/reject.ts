import { jsonDepth, mostJsonDepth } from '../../base/json-depth.js'
import { RankweaveError } from '../../errors.js'
import { printable } from '../../text/printable.js'

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
