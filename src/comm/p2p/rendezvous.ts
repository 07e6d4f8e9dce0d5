import { bytesOf } from '../../base/bytes.js'
import { RankweaveError, reasonText } from '../../errors.js'
import { type Landing, landing, misfit } from '../datatype/payload.js'
import { StridedView } from '../datatype/strided-view.js'
import type { Credit, Grantee } from '../process/credit.js'
import {
  cancelReason,
  cancelStage,
  frameKind,
  headerWord,
  transferMode,
  transferWord,
} from '../process/frames.js'
import type { CommContext } from '../table/comm-context.js'
import { type Arrived, lostMessageError } from './message/arrived.js'
import { freedError } from './message/pending.js'
import type { Receive } from './message/receive.js'
import type { Send } from './message/send.js'
import { TransferFrames } from './transfer-frames.js'

/** A send whose receiver, in another process, has not replied finally. */
interface Outgoing {
  readonly send: Send
  /** Set once the receiver is ready. */
  bytes: Uint8Array | undefined
  sentBytes: number
}

/** A matched message on its way into its receive. */
interface Incoming extends Grantee {
  readonly transferId: number
  readonly message: Arrived
  readonly receive: Receive<unknown>
  readonly landing: Landing
}

/** Identifies a transfer among those of all processes: the id is unique to its sender. */
export const keyOf = (process: number, transferId: number) => process * 2 ** 31 + transferId

/**
 * Messages of one communicator to and from other processes. Eager: the data travel with the envelope. Rendezvous: the
 * envelope alone is sent, and the data follow in frames or in bulk once the receiver is ready (`clearToSend`), or the
 * receiver reads them in the sender's memory. Which message goes to which receive is decided in `Matching`.
 */
export class RendezvousTransfers {
  readonly #state: CommContext
  readonly #credit: Credit
  readonly #outgoing = new Map<number, Outgoing>()
  readonly #incoming = new Map<number, Incoming>()
  readonly #frames: TransferFrames
  #whenIdle: (() => void)[] = []

  constructor(state: CommContext) {
    this.#state = state
    this.#credit = state.runtime.credit
    this.#frames = new TransferFrames(state)
  }

  get sends(): Send[] {
    return Array.from(this.#outgoing.values(), (outgoing) => outgoing.send)
  }

  get receives(): Receive<unknown>[] {
    return Array.from(this.#incoming.values(), (incoming) => incoming.receive)
  }

  /** Sends the data along with its envelope; the caller has taken the credit. */
  sendEager(send: Send, destWorldRank: number): void {
    const { payload, process } = send
    const { maxPayloadBytes } = this.#state.runtime.fabric
    const bytes = this.#frames.bytesOf(payload)
    const oneFrame = bytes.byteLength <= maxPayloadBytes
    if (send.synchronous || !oneFrame) send.transferId = this.#credit.drawTransferId()
    this.#frames.eager(send, destWorldRank, oneFrame ? bytes : bytes.subarray(0, maxPayloadBytes))
    if (!oneFrame) this.#frames.data(process, send.transferId, bytes, maxPayloadBytes, bytes.byteLength)
    if (send.synchronous) this.#await(send)
    else send.fulfil()
  }

  /** Sends the envelope; the data follows when the receiver is ready. */
  offer(send: Send, destWorldRank: number): void {
    const { process, payload } = send
    const { runtime } = this.#state
    send.transferId = this.#credit.drawTransferId()
    const location =
      payload.data instanceof StridedView
        ? undefined
        : runtime.fabric.sharing?.locate(process, bytesOf(payload.data))
    if (location === undefined) this.#frames.offer(send, destWorldRank)
    else this.#frames.offerShared(send, destWorldRank, location)
    this.#await(send)
  }

  /** Requests an unmatched send back from its receiver. */
  askBack(send: Send): void {
    this.#frames.control(send.process, frameKind.cancel, send.transferId, cancelStage.unmatched)
  }

  acknowledge(process: number, transferId: number): void {
    this.#frames.control(process, frameKind.acknowledge, transferId)
  }

  /** Notifies a sender that its message will not be received. */
  refuse(process: number, transferId: number, reason: number): void {
    this.#frames.control(process, frameKind.cancelled, transferId, reason)
  }

  /** Fetches the data of an offered message into its receive. */
  accept(process: number, transferId: number, message: Arrived, receive: Receive<unknown>): void {
    const { type, countElems, sizeBytes } = message
    const error = misfit(type, countElems, receive.into)
    if (error !== undefined) {
      this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.discard)
      receive.reject(error)
      return
    }
    const incoming: Incoming = {
      process,
      transferId,
      sizeBytes,
      grantedBytes: 0,
      receivedBytes: 0,
      message,
      receive,
      landing: landing(type, countElems, sizeBytes, receive.into),
      announce: () =>
        this.#frames.control(
          process,
          frameKind.clearToSend,
          transferId,
          transferMode.frames,
          incoming.grantedBytes,
        ),
    }
    this.#incoming.set(keyOf(process, transferId), incoming)
    const { bulk } = this.#state.runtime.fabric
    if (bulk === undefined) {
      this.#credit.request(incoming)
      return
    }
    this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.bulk)
    this.#state.runtime.progress.watch(bulk.receive(process, transferId, incoming.landing.bytes)).then(
      () => this.#landed(incoming),
      (cause) => this.#drop(incoming, asError(cause)),
    )
  }

  /** All frames but envelopes and `cancel` of unmatched messages, which `Matching` handles. */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const transferId = header[transferWord.transferId]!
    switch (header[headerWord.kind]) {
      case frameKind.clearToSend:
        this.#clearToSend(transferId, header[transferWord.argument]!, header[transferWord.bytes]! >>> 0)
        return
      case frameKind.data:
        this.#data(src, transferId, payload)
        return
      case frameKind.acknowledge:
        this.#settle(transferId)
        return
      case frameKind.cancelled:
        this.#cancelled(transferId, header[transferWord.argument]!)
        return
      case frameKind.cancel: {
        const incoming = this.#incoming.get(keyOf(src, transferId))
        if (incoming !== undefined) this.#drop(incoming, lostMessageError(incoming.message.source))
      }
    }
  }

  /** Fails what needs process `peer`, or everything when it is undefined. */
  fail(error: RankweaveError, peer?: number): void {
    for (const { send } of [...this.#outgoing.values()]) {
      if (peer === undefined || send.process === peer) this.#settle(send.transferId, error)
    }
    for (const incoming of [...this.#incoming.values()]) {
      if (peer === undefined || incoming.process === peer) this.#drop(incoming, error)
    }
  }

  /** Resolves when no transfer is in flight in either direction. */
  idle(): Promise<void> {
    if (this.#outgoing.size + this.#incoming.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve)
    })
  }

  #clearToSend(transferId: number, mode: number, grantedBytes: number): void {
    const outgoing = this.#outgoing.get(transferId)
    if (outgoing === undefined) return
    const { send } = outgoing
    send.stage = 'moving'
    if (mode === transferMode.discard) {
      this.#settle(transferId)
      return
    }
    if (outgoing.bytes === undefined) {
      if (!send.isIntact) {
        this.#frames.control(send.process, frameKind.cancel, transferId, cancelStage.matched)
        this.#settle(transferId, send.detachedError())
        return
      }
      outgoing.bytes = this.#frames.bytesOf(send.payload)
    }
    const { bytes } = outgoing
    if (mode === transferMode.bulk) {
      const { runtime } = this.#state
      runtime.progress.watch(runtime.fabric.bulk!.send(send.process, transferId, bytes)).then(
        () => this.#settle(transferId),
        (cause) => this.#settle(transferId, asError(cause)),
      )
      return
    }
    this.#frames.data(send.process, transferId, bytes, outgoing.sentBytes, grantedBytes)
    outgoing.sentBytes = grantedBytes
    if (grantedBytes === bytes.byteLength) this.#settle(transferId)
  }

  #data(src: number, transferId: number, payload: Uint8Array): void {
    const incoming = this.#incoming.get(keyOf(src, transferId))
    if (incoming === undefined) return
    incoming.landing.bytes.set(payload, incoming.receivedBytes)
    this.#state.runtime.processCounters.bytesCopied += payload.byteLength
    this.#credit.arrived(incoming, payload.byteLength)
    if (incoming.receivedBytes === incoming.sizeBytes) this.#landed(incoming)
  }

  #landed(incoming: Incoming): void {
    const { message, receive } = incoming
    this.#forgetIncoming(incoming)
    if (receive.settled) return
    try {
      const data = incoming.landing.finish()
      if (receive.into instanceof StridedView)
        this.#state.runtime.processCounters.bytesCopied += message.sizeBytes
      receive.fulfil({ ...message.status, data })
    } catch (cause) {
      receive.reject(asError(cause))
    }
  }

  #drop(incoming: Incoming, error: RankweaveError): void {
    this.#forgetIncoming(incoming)
    if (this.#state.runtime.fabric.bulk === undefined) this.#credit.abandon(incoming)
    incoming.receive.reject(error)
  }

  #cancelled(transferId: number, reason: number): void {
    const outgoing = this.#outgoing.get(transferId)
    if (outgoing === undefined) return
    const { send } = outgoing
    const asked = reason === cancelReason.asked ? send.cancelledBy : undefined
    this.#settle(transferId, asked ?? freedError(send))
  }

  #await(send: Send): void {
    send.stage = 'offered'
    this.#outgoing.set(send.transferId, { send, bytes: undefined, sentBytes: 0 })
  }

  #settle(transferId: number, error?: RankweaveError): void {
    const outgoing = this.#outgoing.get(transferId)
    if (outgoing === undefined) return
    this.#outgoing.delete(transferId)
    if (error === undefined) outgoing.send.fulfil()
    else outgoing.send.reject(error)
    this.#checkIdle()
  }

  #forgetIncoming(incoming: Incoming): void {
    this.#incoming.delete(keyOf(incoming.process, incoming.transferId))
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (this.#whenIdle.length === 0 || this.#outgoing.size + this.#incoming.size > 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}

function asError(cause: unknown): RankweaveError {
  if (cause instanceof RankweaveError) return cause
  const said = reasonText(cause)
  return new RankweaveError('ERR_FABRIC', `a transfer failed: ${said}`, { cause })
}
