import { type Collective, collectives } from '../../schedule/specification.js'
import { ANY_SOURCE, ANY_TAG, type Entry } from './matching-list.js'

/**
 * The two queues of each process: receives that were posted before their message, searched by messages (PRQ), and
 * unexpected messages, searched by receives (UMQ).
 */
export const matchingQueues = ['posted', 'unexpected'] as const
export type MatchingQueue = (typeof matchingQueues)[number]

/** The traffic of point-to-point messages; that of a collective is above it. */
export const pointToPoint = 0

/** Returns the traffic of messages. Messages of a collective and of another one, or of point-to-point, never match. */
export function matchingTraffic(collective: Collective | undefined): number {
  return collective === undefined ? pointToPoint : 1 + collectives.indexOf(collective)
}

/**
 * The fields by which a message and a receive are matched: MPI's context, source and tag. Both source and tag of a
 * message are exact. Either of a receive may be a wildcard, and its mask is 0 then. A field matches if it is equal in
 * the bits that the masks of both sides have. The context is never wild.
 *
 * @see Ghazimirsaeed 2019 chapter 2 (masks of queue elements)
 */
export interface MatchingKey {
  /** The context of the communicator, an integer of at least 0. */
  readonly context: number
  /** The traffic: {@link pointToPoint}, or the number that {@link matchingTraffic} gives a collective. */
  readonly traffic: number
  /** The rank of the sender in the communicator, in both queues. */
  readonly source: number
  readonly tag: number
  /** The mask of the source: -1, all bits, unless the source is a wildcard. */
  readonly sourceMask: number
  readonly tagMask: number
  readonly bytes: number
  /** The number of the collective call of its communicator; -1 if that is not known. */
  readonly call: number
}

export interface MatchingElement extends Entry, MatchingKey {
  /** The place where its design holds it. These two belong to the design, like the members of an entry. */
  place: object | undefined
  slot: number
}

/** Applies the rule of matching, the same for both queues. */
export function isMatch(a: MatchingKey, b: MatchingKey): boolean {
  return (
    (((a.source ^ b.source) & a.sourceMask & b.sourceMask) |
      ((a.tag ^ b.tag) & a.tagMask & b.tagMask) |
      (a.context ^ b.context) |
      (a.traffic ^ b.traffic)) ===
    0
  )
}

/** Returns the entry that was inserted first, if any. */
export function earlierOf<E extends Entry>(a: E | undefined, b: E | undefined): E | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.order < b.order ? a : b
}

/** The fields of an element from which the others follow. */
export interface ElementFields {
  readonly context: number
  /** The rank of the sender in the communicator. A receive and a probe may have `ANY_SOURCE`, -1. */
  readonly source: number
  /** The tag, from 0. A receive and a probe may have `ANY_TAG`, -1. */
  readonly tag: number
  /** The bytes of the message, or of the buffer of the receive. Default: 0. */
  readonly bytes?: number
  /** The number of the collective call of its communicator, counted from 0, if that is known. */
  readonly call?: number
}

/** An element with a number, by which a trace names its receive or its message. */
export class QueueElement implements MatchingElement {
  readonly number: number
  readonly context: number
  readonly traffic: number
  readonly source: number
  readonly tag: number
  readonly sourceMask: number
  readonly tagMask: number
  readonly bytes: number
  readonly call: number
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined
  place: object | undefined = undefined
  slot = 0

  constructor(number: number, fields: ElementFields, traffic = pointToPoint) {
    const { context, source, tag, bytes, call } = fields
    this.number = number
    this.context = context
    this.traffic = traffic
    this.source = source
    this.tag = tag
    this.sourceMask = source === ANY_SOURCE ? 0 : -1
    this.tagMask = tag === ANY_TAG ? 0 : -1
    this.bytes = bytes ?? 0
    this.call = call ?? -1
  }
}
