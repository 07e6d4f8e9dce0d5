import { type ErrorCode, RankweaveError, shown, wrongValue } from '../errors.js'

/** @throws code unless `options` is an object */
export function requireOptions(where: string, options: unknown, code: ErrorCode = 'ERR_ARGUMENT'): void {
  if (typeof options === 'object' && options !== null && !isList(options)) return
  throw wrongValue(code, `${where}: expected an object of options`, options)
}

/** Whether a value is an array or a typed array, as buffers are. */
function isList(value: unknown): boolean {
  return Array.isArray(value) || ArrayBuffer.isView(value)
}

/** @throws ERR_ARGUMENT unless `value` is a string */
export function requireText(where: string, value: unknown): asserts value is string {
  if (typeof value === 'string') return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a text`, value)
}

/** Whether a value is an integer of at least 0 that numbers hold exactly. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/**
 * Refuses names that are not options: a misspelt one would have no effect. It allocates nothing for names
 * that are known, because calls that move data check them too.
 *
 * @param known an object with every option's name
 * @throws code naming the unknown option and the nearest known one
 */
export function requireKnownOptions(
  where: string,
  options: unknown,
  known: object,
  code: ErrorCode = 'ERR_ARGUMENT',
): void {
  if (isList(options) && Object.hasOwn(known, 'into')) {
    const expected = `${where}: expected an object of options; the receive buffer goes in { into: buffer }`
    throw wrongValue(code, expected, options)
  }
  requireOptions(where, options, code)
  for (const name in options as object) {
    if (Object.hasOwn(known, name) || !Object.hasOwn(options as object, name)) continue
    const names = Object.keys(known)
    const near = nearest(name, names)
    const message = `${where}: expected options among ${names.join(', ') || 'none'}, got ${shown(name)}${near === undefined ? '' : ` (did you mean '${near}'?)`}`
    throw new RankweaveError(code, message)
  }
}

/**
 * Checks that lists have an entry for every process.
 *
 * @param lists the lists by the names of their options
 * @throws ERR_WORLD naming the first list of another length
 */
export function requireEntries(
  where: string,
  lists: Readonly<Record<string, readonly unknown[] | undefined>>,
  processes: number,
): void {
  for (const [name, list] of Object.entries(lists)) {
    if (list === undefined || list.length === processes) continue
    const message = `${where}: expected ${name} with an entry for each of ${processes} processes, got ${list.length}`
    throw new RankweaveError('ERR_WORLD', message)
  }
}

/** Longer names are not compared. */
const longestName = 64

/** Returns the name that the fewest edits turn into another, unless they change half of it or more. */
function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined
  let best: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase())
    if (edits < fewest && edits * 2 < Math.max(name.length, candidate.length)) {
      best = candidate
      fewest = edits
    }
  }
  return best
}

/** Counts the letters to insert, delete or replace (Levenshtein). */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[b.length]
}
