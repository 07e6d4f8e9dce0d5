import { RankweaveError, shown } from '../../errors.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import type { ProcessFacts } from './design.js'
import type { ElementFields } from './element.js'
import { ANY_SOURCE, ANY_TAG } from './wildcards.js'

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
