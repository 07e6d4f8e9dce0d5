/**
 * Every way in which Rankweave refuses or fails, as a stable code. Callers and tests match `code`, never the message.
 * `docs/errors.md` explains each one; a test keeps the two in step.
 */
export const errorCodes = [
  // the caller's input
  'ERR_ARGUMENT',
  'ERR_RANK',
  'ERR_TAG',
  'ERR_COUNT',
  'ERR_TYPE',
  'ERR_CLONE',
  'ERR_OP',
  'ERR_ALGORITHM',
  'ERR_COLOR',
  'ERR_GROUP',
  'ERR_TABLE_SIZE',
  'ERR_DIMS',
  // messages and collectives
  'ERR_TRUNCATE',
  'ERR_TYPE_MISMATCH',
  'ERR_COLLECTIVE_MISMATCH',
  'ERR_COMM_FREED',
  'ERR_REVOKED',
  'ERR_REQUEST',
  'ERR_ABORTED',
  // worlds and fabrics
  'ERR_WORLD',
  'ERR_WORLD_ABORTED',
  'ERR_WORLD_ENDED',
  'ERR_DEADLOCK',
  'ERR_UNFINISHED',
  'ERR_PEER_LOST',
  'ERR_WORLD_LOST',
  'ERR_AUTHORITY',
  'ERR_FABRIC',
  'ERR_WORKER',
  'ERR_MPI_LAUNCHER',
  'ERR_MPI_LIBRARY',
  'ERR_MPI_KOFFI',
  'ERR_KOFFI',
  // joining a world over sockets
  'ERR_TOKEN',
  'ERR_REPLAYED',
  'ERR_WORLD_FULL',
  'ERR_PROGRAM_MISMATCH',
  'ERR_VERSION_MISMATCH',
  'ERR_TUNING_MISMATCH',
  'ERR_MACHINE_MISMATCH',
  'ERR_PROTOCOL',
  'ERR_MESSAGE_TOO_LARGE',
  'ERR_LIMIT',
  // topologies, machines, matrices
  'ERR_TOPOLOGY',
  'ERR_MACHINE',
  'ERR_MODEL',
  'ERR_SPEC',
  'ERR_MATRIX_MARKET',
  'ERR_FILE',
  'ERR_MEASUREMENT',
  'ERR_TUNING',
  'ERR_MAPPING',
  // strategies and schedules
  'ERR_STRATEGY',
  'ERR_SCHEDULE',
  'ERR_PLAN_MISMATCH',
  'ERR_PLAN_CACHE',
  'ERR_SCHEDULE_FORMAT',
  'ERR_SCHEDULE_VERSION',
  'ERR_PLACEMENT',
  'ERR_SIMULATION',
  'ERR_EXPORT',
  'ERR_SHIM',
  // the service
  'ERR_NOT_FOUND',
  'ERR_ORIGIN',
  'ERR_BUSY',
  'ERR_CANCELLED',
  'ERR_STORE',
  'ERR_SERVICE',
  'ERR_SERVICE_PACKAGE',
  // command line
  'ERR_USAGE',
  'ERR_PROGRAM',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/**
 * The place of an error and the values that it concerns. They are plain, because errors cross threads and sockets as
 * records.
 */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>

export interface ErrorRecord {
  readonly code: ErrorCode
  readonly message: string
  readonly details: ErrorDetails
  readonly stack?: string
  readonly cause?: CauseRecord
  /** World rank whose `main` threw it, as {@link throwingRank} returns it. */
  readonly rank?: number
}

/** The cause of an error, or a thrown value in its place: an error of ours, another error, or a plain value. */
export type CauseRecord =
  | { readonly kind: 'rankweave'; readonly record: ErrorRecord }
  | {
      readonly kind: 'foreign'
      readonly name: string
      readonly message: string
      readonly stack?: string
      readonly rank?: number
    }
  | { readonly kind: 'value'; readonly value: string | number | boolean | bigint | null }

/** The only error class of Rankweave. The message says what was expected, what arrived, and where. */
export class RankweaveError extends Error {
  // The name is stated because bundlers rename classes. It is on the prototype before a stack is captured, since the
  // first line of the stack contains it.
  static override readonly name = 'RankweaveError'
  declare readonly name: 'RankweaveError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  static {
    Object.defineProperty(RankweaveError.prototype, 'name', { value: 'RankweaveError' })
  }

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
  }

  /** Returns `RankweaveError [ERR_RANK]: message`, with the code in the text as in errors of Node. */
  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`
  }

  /**
   * Returns a structured-cloneable copy; {@link RankweaveError.fromRecord} rebuilds the error on the other side. The
   * copy contains causes and their causes, 8 deep. Of a foreign cause it retains the message, of an object its text.
   */
  toRecord(): ErrorRecord {
    return recordOf(this, deepestCause)
  }

  static fromRecord(record: ErrorRecord): RankweaveError {
    const error = new RankweaveError(record.code, record.message, {
      details: record.details,
      cause: record.cause === undefined ? undefined : fromCauseRecord(record.cause),
    })
    if (record.stack !== undefined) error.stack = record.stack
    if (record.rank !== undefined) noteRank(error, record.rank)
    return error
  }
}

/** The most characters of a text, and elements of an array, that a message repeats. */
const mostShown = 200

/**
 * Returns a value as messages show it: a string in quotes, a bigint with its `n`, otherwise its text. Of a long text it
 * shows the beginning, of a long or nested array the length. Never throws.
 */
export function shown(value: unknown): string {
  if (typeof value === 'bigint') return shortened(`${value}n`)
  return withinLine(typeof value === 'string' ? `'${shortened(value)}'` : shortened(reasonText(value)))
}

/**
 * Characters that change those around them: control and format characters (some reverse text), line ends other than a
 * line feed, and halves of characters. Text of a file that has them could pass for lines of a report.
 */
export const unprintable = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}'
const escaped = new RegExp(`[${unprintable}\ufffd]`, 'gu')

function withinLine(text: string): string {
  return text.replaceAll(escaped, escapeOf)
}

/** Returns a character as a message shows it: `\x1b`, `\u202e`. */
export function escapeOf(character: string): string {
  const hex = character.codePointAt(0)!.toString(16)
  return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`
}

/**
 * Returns the error that refuses a value.
 *
 * @param expected where, and what was expected: `send: expected a rank from 0 to 7`
 * @param value what arrived; the message ends with its text, which {@link shown} makes
 */
export function wrongValue(
  code: ErrorCode,
  expected: string,
  value: unknown,
  details: ErrorDetails = {},
): RankweaveError {
  return new RankweaveError(code, `${expected}, got ${shown(value)}`, { details })
}

/** Returns a thrown value in one line, with the name of its class. */
export function causeText(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
}

/** Returns a text as messages show it: the beginning of a long one, and its length. */
export function shortened(text: string): string {
  if (text.length <= mostShown) return text
  return `${text.slice(0, mostShown)}... (${text.length} characters)`
}

/** Returns a thrown value or a reason as messages show it; of an error, its message. Never throws. */
export function reasonText(value: unknown): string {
  try {
    if (value instanceof Error) return value.message
    // The text of a view would look like the number that was expected.
    if (ArrayBuffer.isView(value)) return withArticle(value.constructor.name)
    if (Array.isArray(value)) return arrayText(value)
    const text = String(value)
    return text === '[object Object]' ? objectText(value as object) : text
  } catch {
    return `a value of type ${typeof value} that has no text`
  }
}

/** Returns the name of a type behind its article: `an Int32Array`, `a Uint8Array`. */
export function withArticle(name: string): string {
  return `${/^(?:Int|[AEO])/.test(name) ? 'an' : 'a'} ${name}`
}

/** Shortens an array, because arrays of others may be long and nest deeply, and the full text would take too long. */
function arrayText(values: readonly unknown[]): string {
  const { length } = values
  if (length > mostShown || values.some((value) => typeof value === 'object' && value !== null))
    return `an array of ${length}`
  return length < 2 ? `[${values.map(String).join('')}]` : String(values)
}

const mostEntries = 8

/** Shows the first entries of an object, without what nests in it. */
function objectText(value: object): string {
  const entries = Object.entries(value)
  const shownOnes = entries
    .slice(0, mostEntries)
    .map(([key, each]) => `${key}: ${typeof each === 'object' && each !== null ? '...' : shown(each)}`)
  if (entries.length > mostEntries) shownOnes.push('...')
  return shownOnes.length === 0 ? '{}' : `{ ${shownOnes.join(', ')} }`
}

/** Tells whether a value is a {@link RankweaveError} and, if codes are given, has one of them. */
export function isRankweaveError(error: unknown, ...codes: readonly ErrorCode[]): error is RankweaveError {
  return error instanceof RankweaveError && (codes.length === 0 || codes.includes(error.code))
}

/** The world rank whose `main` threw an error first, by error. Errors themselves stay as they were thrown. */
const ranks = new WeakMap<object, number>()

/** @internal Notes the rank whose `main` threw a value; values that are not objects have none. */
export function noteRank(error: unknown, rank: number): void {
  if (typeof error === 'object' && error !== null && !ranks.has(error)) ranks.set(error, rank)
}

/**
 * Returns the world rank whose `main` threw the error with which `run` rejected, also in another thread or process. It
 * is undefined if no rank threw it, or if the thrown value is not an object.
 */
export function throwingRank(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null ? ranks.get(error) : undefined
}

function recordedRank(error: object): { readonly rank?: number } {
  const rank = ranks.get(error)
  return rank === undefined ? {} : { rank }
}

/** The depth of causes that a record retains; an error may be its own cause. */
const deepestCause = 8

function recordOf(error: RankweaveError, depth: number): ErrorRecord {
  const { code, message, details, stack, cause } = error
  return {
    code,
    message,
    details,
    ...(stack === undefined ? {} : { stack }),
    ...recordedRank(error),
    ...(cause === undefined || depth === 0 ? {} : { cause: toCauseRecord(cause, depth - 1) }),
  }
}

/** Returns anything that was thrown, or given as a reason, as a record. */
export function toCauseRecord(cause: unknown, depth = deepestCause): CauseRecord {
  if (cause instanceof RankweaveError) return { kind: 'rankweave', record: recordOf(cause, depth) }
  if (cause instanceof Error) {
    const { name, message, stack } = cause
    return {
      ...{ kind: 'foreign', name, message },
      ...(stack === undefined ? {} : { stack }),
      ...recordedRank(cause),
    }
  }
  const isPlain = cause === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof cause)
  return {
    kind: 'value',
    value: isPlain ? (cause as string | number | boolean | bigint | null) : reasonText(cause),
  }
}

/**
 * Returns a thrown value unless reading it throws; then it returns an error that says so. A world must end whatever was
 * thrown.
 */
export function readableError(thrown: unknown): unknown {
  try {
    toCauseRecord(thrown)
    return thrown
  } catch {
    return new TypeError(`the program threw ${reasonText(thrown)}`)
  }
}

/** Returns what {@link toCauseRecord} was given, as far as it could be recorded. */
export function fromCauseRecord(cause: CauseRecord): unknown {
  if (cause.kind === 'value') return cause.value
  if (cause.kind === 'rankweave') return RankweaveError.fromRecord(cause.record)
  const error = new Error(cause.message)
  error.name = cause.name
  if (cause.stack !== undefined) error.stack = cause.stack
  if (cause.rank !== undefined) noteRank(error, cause.rank)
  return error
}
