import { bytesOf } from '../../base/bytes.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { MemoryLocation } from '../../fabric/fabric.js'
import type { Payload } from '../datatype/payload.js'
import { pack, StridedView } from '../datatype/strided-view.js'
import type { Arrived, Content } from '../mailboxes/arrived.js'
import { freedError, type Receive, type Send } from '../mailboxes/pending-operation.js'
import type { CommContext } from '../process/comm-context.js'
import {
  cancelReason,
  cancelStage,
  envelopeWord,
  envelopeWords,
  type FrameKind,
  frameKind,
  headerWord,
  locationWord,
  sharedWords,
  transferWord,
} from '../process/frames.js'
import { isDetachedHere, type Outgoing, TransferFrames } from '../process/transfers.js'
import { MatchedReceive, placeFor } from './delivery.js'

/**
 * The messages of one communicator to and from other processes. Eager: the data travel with the envelope. Rendezvous:
 * the envelope alone is sent. The data are transferred once the receiver is ready (`Transfers`), or the receiver reads
 * them in the sender's memory. `Matching` decides which message goes to which receive.
 */
export class RendezvousProtocol {
  readonly #state: CommContext
  readonly #envelopes: EnvelopeFrames
  readonly #frames: TransferFrames
  /** The sends whose receiver, in another process, has not replied finally, by transfer id. */
  readonly #offered = new Map<number, OfferedSend>()
  /** The receives whose message is in flight, with its transfer. */
  readonly #matched = new Map<Receive<unknown>, { readonly process: number; readonly transferId: number }>()
  #whenIdle: (() => void)[] = []

  constructor(state: CommContext) {
    this.#state = state
    this.#envelopes = new EnvelopeFrames(state)
    this.#frames = new TransferFrames(state.runtime, state.id)
  }

  get sends(): Send[] {
    return Array.from(this.#offered.values(), ({ send }) => send)
  }

  get receives(): Receive<unknown>[] {
    return [...this.#matched.keys()]
  }

  /**
   * Sends the data along with its envelope; the caller has taken the credit.
   *
   * @param waits whether the send completes when a receive has taken it
   */
  sendEager(send: Send, destWorldRank: number, waits = send.synchronous): void {
    const { payload, process } = send
    const { credit, fabric } = this.#state.runtime
    const { maxPayloadBytes } = fabric
    const bytes = this.#envelopes.bytesOf(payload)
    const oneFrame = bytes.byteLength <= maxPayloadBytes
    if (waits) this.#offer(send)
    else if (!oneFrame) send.transferId = credit.drawTransferId()
    this.#envelopes.eager(send, destWorldRank, oneFrame ? bytes : bytes.subarray(0, maxPayloadBytes), waits)
    if (!oneFrame) this.#frames.data(process, send.transferId, bytes, maxPayloadBytes, bytes.byteLength)
    if (!waits) send.fulfill()
  }

  /**
   * Sends the envelope. The receiver copies the data from their place if it can; otherwise they follow when it is
   * ready. The data go at once if it cannot read them in this process and the fabric has room, since a request would
   * take as long.
   */
  offer(send: Send, destWorldRank: number): void {
    const { process, payload } = send
    const { sharing, loans } = this.#state.runtime.fabric
    const bytes = payload.data instanceof StridedView ? undefined : bytesOf(payload.data)
    const shared = bytes === undefined ? undefined : sharing?.locate(process, bytes)
    if (shared === undefined && this.#mayGoAhead(send)) {
      this.sendEager(send, destWorldRank, true)
      return
    }
    const loan = bytes === undefined ? undefined : loans?.lend(process, bytes)
    this.#offer(send, loan)
    const location = shared ?? loan
    if (location === undefined) this.#envelopes.offer(send, destWorldRank)
    else this.#envelopes.offerShared(send, destWorldRank, location)
  }

  #mayGoAhead({ process, payload }: Send): boolean {
    const { options, fabric, credit } = this.#state.runtime
    const { sizeBytes } = payload
    if (options.sendsAhead !== true || fabric.roomFor === undefined || sizeBytes === 0) return false
    return sizeBytes <= fabric.roomFor(process) && credit.takeSpare(process, sizeBytes)
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

  accept({ process, transferId, loan }: Remote, message: Arrived, receive: Receive<unknown>): void {
    const { transfers, runtime } = this.#state
    const place = placeFor(receive, message, runtime.fresh)
    if (place instanceof RankweaveError) {
      transfers.decline(process, transferId)
      receive.reject(place)
      return
    }
    const matched = new MatchedReceive(this.#state, message, receive, place, () => {
      this.#matched.delete(receive)
      this.#checkIdle()
    })
    const isCopied = loan !== undefined && runtime.fabric.loans?.copy(process, loan, matched.into) === true
    if (isCopied) runtime.processCounters.bytesCopied += message.sizeBytes
    this.#matched.set(receive, { process, transferId })
    transfers.fetch(process, transferId, matched, isCopied)
  }

  /** Gives up the message of a receive that is in flight: the receive rejects once its buffer is no longer written. */
  abandon(receive: Receive<unknown>, error: RankweaveError): void {
    const matched = this.#matched.get(receive)
    if (matched !== undefined) this.#state.transfers.abandon(matched.process, matched.transferId, error)
  }

  /**
   * Handles replies of receivers to offered messages.
   *
   * @throws ERR_PROTOCOL for a reply of another process
   */
  frame(src: number, header: Int32Array): void {
    const transferId = header[transferWord.transferId]
    const receiver = this.#offered.get(transferId)?.process ?? src
    if (receiver !== src) {
      const expected = `transfer ${transferId}: expected an answer of process ${receiver}`
      throw wrongValue('ERR_PROTOCOL', expected, src)
    }
    if (header[headerWord.kind] === frameKind.acknowledge) this.#state.transfers.settle(transferId)
    else if (header[headerWord.kind] === frameKind.cancelled)
      this.#cancelled(transferId, header[transferWord.argument])
  }

  /** Resolves when no transfer is in flight in either direction. */
  idle(): Promise<void> {
    if (this.#offered.size + this.#matched.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve)
    })
  }

  #cancelled(transferId: number, reason: number): void {
    const send = this.#offered.get(transferId)?.send
    if (send === undefined) return
    const asked = reason === cancelReason.asked ? send.cancelledBy : undefined
    this.#state.transfers.settle(transferId, asked ?? freedError(send))
  }

  #offer(send: Send, loan?: MemoryLocation): void {
    const offered = new OfferedSend(send, this.#envelopes, () => {
      if (loan !== undefined) this.#state.runtime.fabric.loans?.end(loan)
      this.#offered.delete(send.transferId)
      this.#checkIdle()
    })
    send.stage = 'offered'
    send.transferId = this.#state.transfers.offer(offered)
    this.#offered.set(send.transferId, offered)
  }

  #checkIdle(): void {
    if (this.#whenIdle.length === 0 || this.#offered.size + this.#matched.size > 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}

type Remote = Content & { readonly kind: 'remote' }

class OfferedSend implements Outgoing {
  readonly send: Send
  readonly process: number
  readonly #envelopes: EnvelopeFrames
  readonly #ended: () => void

  constructor(send: Send, envelopes: EnvelopeFrames, ended: () => void) {
    this.send = send
    this.process = send.process
    this.#envelopes = envelopes
    this.#ended = ended
  }

  begin(): Uint8Array | RankweaveError {
    this.send.stage = 'moving'
    return this.send.isIntact ? this.#envelopes.bytesOf(this.send.payload) : this.send.detachedError()
  }

  sent(): void {
    this.send.fulfill()
    this.#ended()
  }

  failed(error: RankweaveError): void {
    this.send.reject(isDetachedHere(error) ? this.send.detachedError() : error)
    this.#ended()
  }
}

/** Writes and sends the envelopes of one communicator's messages; the headers are made once. */
class EnvelopeFrames {
  readonly #state: CommContext
  readonly #envelope: Int32Array
  readonly #shared: Int32Array

  constructor(state: CommContext) {
    this.#state = state
    this.#envelope = this.#headerOf(envelopeWords)
    this.#shared = this.#headerOf(sharedWords)
  }

  /**
   * @param bytes the payload, or its first part
   * @param acknowledge whether the receiver is to report that a receive has taken it
   */
  eager(send: Send, destWorldRank: number, bytes: Uint8Array, acknowledge: boolean): void {
    const header = this.#write(send, frameKind.eager, destWorldRank, this.#envelope)
    if (acknowledge) header[envelopeWord.acknowledge] = 1
    this.#state.runtime.send(send.process, header, bytes)
  }

  offer(send: Send, destWorldRank: number): void {
    const header = this.#write(send, frameKind.rendezvous, destWorldRank, this.#envelope)
    this.#state.runtime.send(send.process, header)
  }

  offerShared(send: Send, destWorldRank: number, { segment, byteOffset }: MemoryLocation): void {
    const header = this.#write(send, frameKind.shared, destWorldRank, this.#shared)
    header[locationWord.segment] = segment
    header[locationWord.offsetLow] = byteOffset
    header[locationWord.offsetHigh] = Math.floor(byteOffset / 2 ** 32)
    this.#state.runtime.send(send.process, header)
  }

  /** Returns the payload as it travels: the elements of a strided view are packed. */
  bytesOf({ data, sizeBytes }: Payload): Uint8Array {
    if (!(data instanceof StridedView)) return bytesOf(data)
    this.#state.runtime.processCounters.bytesCopied += sizeBytes
    return bytesOf(pack(data))
  }

  #write(send: Send, kind: FrameKind, destWorldRank: number, header: Int32Array): Int32Array {
    header[headerWord.kind] = kind
    header[envelopeWord.destWorldRank] = destWorldRank
    header[envelopeWord.dest] = send.dest
    header[envelopeWord.source] = send.owner.rank
    header[envelopeWord.tag] = send.tag
    header[envelopeWord.type] = send.payload.type
    header[envelopeWord.sizeBytes] = send.payload.sizeBytes
    header[envelopeWord.transferId] = send.transferId
    header[envelopeWord.acknowledge] = send.synchronous ? 1 : 0
    return header
  }

  #headerOf(words: number): Int32Array {
    const header = new Int32Array(words)
    header[headerWord.leader] = this.#state.id.leader
    header[headerWord.counter] = this.#state.id.counter
    return header
  }
}
