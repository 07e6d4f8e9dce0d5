import { isRankweaveError, RankweaveError } from '../../errors.js'
import { type Landing, landing } from '../datatype/payload.js'
import { StridedView } from '../datatype/strided-view.js'
import { lostMessageError } from '../mailboxes/arrived.js'
import { receiveMisfit } from '../mailboxes/delivery.js'
import type { Envelope } from '../mailboxes/envelope.js'
import type { Receive } from '../mailboxes/receive.js'
import type { CommContext } from '../process/comm-context.js'
import type { FreshMemory } from '../process/fresh-memory.js'
import { type Incoming, isDetachedHere, transferError } from '../process/transfer-sides.js'

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
      receive.fulfil({ source, tag, count: countElems, sizeBytes, data })
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
