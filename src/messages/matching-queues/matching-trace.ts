import { RankweaveError, reasonText, shown, wrongValue } from '../../errors.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import type { ElementFields, ProcessFacts } from './design.js'
import { ANY_SOURCE, ANY_TAG } from './entry-list.js'

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
interface TraceEnd {
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
interface ReadTrace {
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

/** The fields by which a receive or a message is matched, and the call it belongs to. */
export interface OperationFields extends ElementFields {
  /**
   * The collective that the message is part of; without one it is a point-to-point message. The two never match, nor do
   * messages and receives of two collectives.
   */
  readonly collective?: Collective
}

/**
 * An event at the two matching queues of one process, one step of a trace:
 * - `post`: a receive starts. It takes the first unexpected message that matches, or is posted if there is none. A
 *   matched probe that waits is a receive, too.
 * - `arrive`: a message arrives. It goes to the first posted receive that matches, or becomes unexpected if there is
 *   none.
 * - `probe`: a probe finds the first unexpected message that matches, and leaves it there.
 * - `mprobe`: a matched probe that does not wait takes the first unexpected message that matches; without one nothing
 *   is posted.
 * - `cancel`: a posted receive is cancelled. One that has its message stays complete.
 *
 * Operations are plain data: a trace is a sequence of them, in the order in which they took place.
 */
export type MatchingOperation =
  | ({ readonly kind: 'post' | 'arrive' | 'probe' | 'mprobe' } & OperationFields)
  | {
      readonly kind: 'cancel'
      /** The number of the `post` of the trace, counted from 0. */
      readonly receive: number
    }

/** The largest field: bits of keys are compared as integers of 32 bits. */
const mostInteger = 0x7fffffff

/**
 * Checks an operation that may come from a file.
 *
 * @param place of the operation in its trace, from 0, for the message
 * @throws ERR_ARGUMENT naming the field, what was expected and what arrived
 */
export function checkOperation(operation: MatchingOperation, place: number, facts: ProcessFacts): void {
  const wrong = (expected: string, value: unknown): RankweaveError =>
    new RankweaveError('ERR_ARGUMENT', `operation ${place}: expected ${expected}, got ${shown(value)}`)
  if (typeof operation !== 'object' || operation === null) throw wrong('an object', operation)
  if (operation.kind === 'cancel') {
    if (!isIndex(operation.receive, Number.MAX_SAFE_INTEGER))
      throw wrong('receive, an integer >= 0', operation.receive)
    return
  }
  const { kind, context, source, tag, bytes, collective, call } = operation
  if (kind !== 'post' && kind !== 'arrive' && kind !== 'probe' && kind !== 'mprobe')
    throw wrong('kind post, arrive, probe, mprobe or cancel', kind)
  if (!isIndex(context, mostInteger)) throw wrong(`context, an integer from 0 to ${mostInteger}`, context)
  const ranks = facts.communicatorSizes?.get(context) ?? facts.processes
  const isArrival = kind === 'arrive'
  if (!isIndex(source, ranks - 1) && (isArrival || facts.noAnySource || source !== ANY_SOURCE))
    throw wrong(
      `source, an integer from 0 to ${ranks - 1}${isArrival || facts.noAnySource ? '' : ' or ANY_SOURCE (-1)'}`,
      source,
    )
  if (!isIndex(tag, mostInteger) && (isArrival || tag !== ANY_TAG))
    throw wrong(`tag, an integer from 0 to ${mostInteger}${isArrival ? '' : ' or ANY_TAG (-1)'}`, tag)
  if (bytes !== undefined && !isIndex(bytes, Number.MAX_SAFE_INTEGER))
    throw wrong('bytes, an integer >= 0', bytes)
  if (collective !== undefined && !collectives.includes(collective))
    throw wrong(`collective among ${collectives.join(', ')}`, collective)
  if (call !== undefined && !isIndex(call, Number.MAX_SAFE_INTEGER))
    throw wrong('call, an integer >= 0', call)
}

function isIndex(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
}
