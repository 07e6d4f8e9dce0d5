import { RankweaveError, reasonText, wrongValue } from '../../errors.js'
import type { ProcessFacts } from './design.js'
import { checkOperation, type MatchingOperation } from './operation.js'

/** The first line of a trace, which describes its process. */
export interface TraceHeader {
  /** The number of ranks of the world. */
  readonly processes: number
  /** The world rank of the process. */
  readonly rank: number
  /** The ranks of communicators by their contexts; those that are absent have all. */
  readonly communicatorSizes?: ReadonlyMap<number, number>
}

const format = 'rankweave-matching'
const version = 1

/** The most letters of a line that is read. */
const longestLine = 1_000_000
const mostProcesses = 2 ** 22

/** The end of a trace. */
export interface TraceEnd {
  /** Whether more operations took place than it may hold; then the last line has `"bounded":true`. */
  readonly bounded: boolean
}

/**
 * The trace of one process as lines of JSON:
 * - first `{"format":"rankweave-matching","version":1,"processes":4,"rank":0,"communicators":[[1,2]]}`, where the last
 *   member, pairs of a context and its number of ranks, may be absent;
 * - then one operation a line, the members of a `MatchingOperation`: `{"kind":"post","context":0,"source":1,"tag":5,"bytes":8}`;
 * - last `{"operations":1000}`, the number of lines between, by which a reader knows that nothing is missing. A trace
 *   that was bounded ends with `{"operations":1000,"bounded":true}`.
 */
export function* traceLines(
  header: TraceHeader,
  operations: Iterable<MatchingOperation>,
  { bounded }: TraceEnd = { bounded: false },
): Generator<string> {
  const { processes, rank, communicatorSizes } = header
  const communicators = communicatorSizes === undefined ? {} : { communicators: [...communicatorSizes] }
  yield JSON.stringify({ format, version, processes, rank, ...communicators })
  let count = 0
  for (const operation of operations) {
    yield JSON.stringify(operation)
    count++
  }
  yield JSON.stringify({ operations: count, ...(bounded ? { bounded } : {}) })
}

/** A trace whose operations are read as they are taken, once. */
export interface ReadTrace {
  readonly header: TraceHeader
  /** @throws ERR_FILE at the first malformed line, and if lines are missing */
  readonly operations: Iterable<MatchingOperation>
  /** Known when the operations have been read. */
  readonly end: TraceEnd
}

/**
 * Reads what {@link traceLines} writes, line by line, in constant memory.
 *
 * @param lines without their ends
 * @throws ERR_FILE for a malformed first line
 */
export function readTraceLines(lines: Iterable<string>): ReadTrace {
  const iterator = lines[Symbol.iterator]()
  const first = iterator.next()
  const header = headerIn(objectIn(first.done === true ? '' : first.value, 1))
  const end = { bounded: false }
  return { header, operations: { [Symbol.iterator]: () => operationsIn(iterator, header, end) }, end }
}

function* operationsIn(
  lines: Iterator<string>,
  facts: ProcessFacts,
  end: { bounded: boolean },
): Generator<MatchingOperation> {
  for (let count = 0; ; count++) {
    const { done, value } = lines.next()
    const line = count + 2
    if (done === true)
      throw fileError(line, 'the number of operations as the last line: the trace is cut off')
    const object = objectIn(value, line)
    if ('operations' in object) {
      if (object['operations'] !== count)
        throw wrongValue(
          'ERR_FILE',
          `line ${line} of a trace: expected ${count} operations`,
          object['operations'],
        )
      const { bounded = false } = object
      if (typeof bounded !== 'boolean')
        throw wrongValue('ERR_FILE', `line ${line} of a trace: expected bounded, true or false`, bounded)
      end.bounded = bounded
      if (lines.next().done !== true) throw fileError(line + 1, 'nothing after the number of operations')
      return
    }
    const operation = object as unknown as MatchingOperation
    try {
      checkOperation(operation, count, facts)
    } catch (cause) {
      throw new RankweaveError('ERR_FILE', `line ${line} of a trace: ${reasonText(cause)}`, { cause })
    }
    yield operation
  }
}

function headerIn(object: Readonly<Record<string, unknown>>): TraceHeader {
  const { format: name, version: written, processes, rank, communicators = [] } = object
  if (name !== format) throw wrongValue('ERR_FILE', `line 1 of a trace: expected format '${format}'`, name)
  if (written !== version)
    throw wrongValue('ERR_FILE', `line 1 of a trace: expected version ${version}`, written)
  if (!isInteger(processes, 1, mostProcesses))
    throw wrongValue(
      'ERR_FILE',
      `line 1 of a trace: expected processes from 1 to ${mostProcesses}`,
      processes,
    )
  if (!isInteger(rank, 0, processes - 1))
    throw wrongValue('ERR_FILE', `line 1 of a trace: expected rank from 0 to ${processes - 1}`, rank)
  const isPair = (pair: unknown): pair is [number, number] =>
    Array.isArray(pair) &&
    pair.length === 2 &&
    isInteger(pair[0], 0, Number.MAX_SAFE_INTEGER) &&
    isInteger(pair[1], 1, processes)
  if (!Array.isArray(communicators) || !communicators.every(isPair))
    throw fileError(1, `communicators as pairs of a context and a number of ranks from 1 to ${processes}`)
  const communicatorSizes = new Map<number, number>()
  for (const [context, ranks] of communicators) {
    if (communicatorSizes.has(context)) throw fileError(1, `each context once, got ${context} again`)
    communicatorSizes.set(context, ranks)
  }
  return { processes, rank, communicatorSizes }
}

function objectIn(line: string, number: number): Readonly<Record<string, unknown>> {
  if (line.length > longestLine) throw fileError(number, `at most ${longestLine} letters, got ${line.length}`)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw wrongValue('ERR_FILE', `line ${number} of a trace: expected JSON`, line)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>
  throw wrongValue('ERR_FILE', `line ${number} of a trace: expected an object`, line)
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function fileError(line: number, expected: string): RankweaveError {
  return new RankweaveError('ERR_FILE', `line ${line} of a trace: expected ${expected}`)
}
