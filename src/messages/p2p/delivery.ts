import { bytesOf, copyBytes } from '../../base/bytes.js'
import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import { elementsIn, newArrayOf, type TypedArray, typeCode } from '../datatype/elements.js'
import { type Landing, landing, misfit } from '../datatype/payload.js'
import { copyElements, pack, StridedView, unpack } from '../datatype/strided-view.js'
import { decodeValue } from '../datatype/value-reader.js'
import { lostMessageError } from '../mailboxes/arrived.js'
import type { Envelope } from '../mailboxes/envelope.js'
import type { Receive } from '../mailboxes/pending-operation.js'
import { calledAt } from '../process/call-sites.js'
import type { CommContext } from '../process/comm-context.js'
import type { FreshMemory } from '../process/process-memory.js'
import { type Incoming, isDetachedHere, transferError } from '../process/transfers.js'

/** Completes a receive from its sender's own memory, in one copy. */
export function deliverCopy(
  receive: Receive<unknown>,
  envelope: Envelope,
  data: TypedArray | StridedView,
): void {
  if (!admit(receive, envelope)) return
  if (envelope.type === typeCode.value) {
    complete(receive, envelope, () => decodeValue(data as Uint8Array))
    return
  }
  const { into } = receive
  receive.owner.processCounters.bytesCopied += envelope.sizeBytes
  fill(receive, envelope, () => {
    if (into === undefined) return pack(data)
    copyElements(data, into)
    return into
  })
}

/** Completes a receive from memory that has no other owner: handed over if no `into` is given. */
export function deliverHeld(receive: Receive<unknown>, envelope: Envelope, data: TypedArray): void {
  if (receive.into === undefined && envelope.type !== typeCode.value) {
    admit(receive, envelope)
    fulfill(receive, envelope, data)
  } else deliverCopy(receive, envelope, data)
}

/** Completes a receive from the bytes of a frame, which are borrowed. */
export function deliverBytes(receive: Receive<unknown>, envelope: Envelope, bytes: Uint8Array): void {
  if (!admit(receive, envelope)) return
  if (envelope.type === typeCode.value) {
    complete(receive, envelope, () => decodeValue(bytes))
    return
  }
  const { into } = receive
  receive.owner.processCounters.bytesCopied += envelope.sizeBytes
  fill(receive, envelope, () => {
    if (into instanceof StridedView) {
      unpack(elementsIn(envelope.type, bytes), into)
      return into
    }
    if (into === undefined) return newArrayOf(envelope.type, bytes, 0, envelope.sizeBytes)
    copyBytes(bytesOf(into), 0, bytes)
    return into
  })
}

/**
 * Fills a receive. Memory that cannot be written, or is not there, fails the receive, not the frame that has brought
 * the message.
 */
function fill(receive: Receive<unknown>, envelope: Envelope, copy: () => unknown): void {
  let data: unknown
  try {
    data = copy()
  } catch (cause) {
    const error = new RankweaveError('ERR_TYPE', `a message cannot be stored: ${reasonText(cause)}`, {
      cause,
    })
    receive.reject(isRankweaveError(cause) && cause.code !== 'ERR_FABRIC' ? cause : error)
    return
  }
  fulfill(receive, envelope, data)
}

export function countReceived(receive: Receive<unknown>, envelope: Envelope): void {
  const { counters } = receive.owner
  counters.messagesReceived++
  counters.bytesReceived += envelope.sizeBytes
}

/**
 * Returns why a message does not fit its receive, with the rank, the sender and the tag; undefined when it
 * does.
 */
function receiveMisfit(
  receive: Receive<unknown>,
  { type, countElems, source, tag }: Pick<Envelope, 'type' | 'countElems' | 'source' | 'tag'>,
): RankweaveError | undefined {
  const found = misfit(type, countElems, receive.into)
  if (found === undefined) return undefined
  const { code, message, details } = found
  const { owner, call, site } = receive
  const where = `${owner.name}, ${call} on ${owner.communicatorName}`
  const from = `(from rank ${source}, tag ${tag})`
  return new RankweaveError(
    code,
    `${where}: ${message} ${from}${calledAt(owner.callSites, site)}${owner.origin ?? ''}`,
    {
      details: {
        ...details,
        rank: owner.rank,
        source,
        tag,
        ...(site === undefined ? {} : { calledAt: site.text }),
      },
    },
  )
}

/** Consumes the message; returns false when it does not fit and the receive has failed. */
function admit(receive: Receive<unknown>, envelope: Envelope): boolean {
  countReceived(receive, envelope)
  const error = receiveMisfit(receive, envelope)
  if (error === undefined) return true
  receive.reject(error)
  return false
}

function complete(receive: Receive<unknown>, envelope: Envelope, decode: () => unknown): void {
  receive.owner.processCounters.bytesCopied += envelope.sizeBytes
  let data: unknown
  try {
    data = decode()
  } catch (error) {
    receive.reject(error as RankweaveError)
    return
  }
  fulfill(receive, envelope, data)
}

function fulfill(receive: Receive<unknown>, envelope: Envelope, data: unknown): void {
  const { source, tag, countElems, sizeBytes } = envelope
  receive.fulfill({ source, tag, count: countElems, sizeBytes, data })
}

/** A receive whose message has been matched and is in flight into it. */
export class MatchedReceive implements Incoming {
  readonly receive: Receive<unknown>
  readonly #state: CommContext
  readonly #message: Envelope
  readonly #landing: Landing
  readonly #ended: () => void

  constructor(
    state: CommContext,
    message: Envelope,
    receive: Receive<unknown>,
    place: Landing,
    ended: () => void = () => {},
  ) {
    this.receive = receive
    this.#state = state
    this.#message = message
    this.#landing = place
    this.#ended = ended
  }

  get into(): Uint8Array {
    return this.#landing.bytes
  }

  landed(): void {
    this.#ended()
    const { receive } = this
    if (receive.settled) return
    if (this.into.byteLength !== this.#message.sizeBytes) {
      receive.reject(detachedInto(receive))
      return
    }
    try {
      const data = this.#landing.finish()
      if (receive.into instanceof StridedView)
        this.#state.runtime.processCounters.bytesCopied += this.#message.sizeBytes
      const { source, tag, countElems, sizeBytes } = this.#message
      receive.fulfill({ source, tag, count: countElems, sizeBytes, data })
    } catch (cause) {
      this.#reject(transferError(cause))
    }
  }

  failed(error: RankweaveError): void {
    this.#ended()
    this.#reject(error)
  }

  #reject(error: RankweaveError): void {
    this.receive.reject(isDetachedHere(error) ? detachedInto(this.receive) : error)
  }

  lost(): RankweaveError {
    return lostMessageError(this.#message.source)
  }
}

/**
 * Returns the destination of a message, or the error when it does not fit or no memory holds what its envelope states.
 */
export function placeFor(
  receive: Receive<unknown>,
  message: Envelope,
  fresh: FreshMemory,
): Landing | RankweaveError {
  const misfit = receiveMisfit(receive, message)
  if (misfit !== undefined) return misfit
  if (receive.into === undefined) fresh.take(message.sizeBytes)
  try {
    return landing(message.type, message.countElems, message.sizeBytes, receive.into)
  } catch (error) {
    if (isRankweaveError(error)) return error
    throw error
  }
}

function detachedInto(receive: Receive<unknown>): RankweaveError {
  return new RankweaveError('ERR_TYPE', `${receive.call}: into was detached before the message had arrived`)
}
