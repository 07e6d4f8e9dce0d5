import type { RankweaveError } from '../../errors.js'
import { type TypedArray, typeCode } from '../datatype/elements.js'
import { pack } from '../datatype/strided-view.js'
import { Arrived, type Content } from '../mailboxes/arrived.js'
import { deliverCopy } from '../mailboxes/delivery.js'
import type { Envelope } from '../mailboxes/envelope.js'
import type { Mailbox, Mailboxes } from '../mailboxes/mailbox.js'
import type { Send } from '../mailboxes/send.js'
import type { CommContext } from '../process/comm-context.js'
import { processOf } from '../process/world-layout.js'
import type { AddressQueue } from './address-queue.js'
import type { Arrivals } from './arrivals.js'
import type { EnvelopeCount } from './envelope-count.js'
import type { RendezvousProtocol } from './rendezvous-protocol.js'

/**
 * The sends of one communicator that the eager fast path refuses. It finds the receiver's process, and decides whether
 * the data travel with the envelope (eager) or wait for the receive (rendezvous).
 *
 * Messages between ranks of this process bypass the fabric. A posted receive gets the sender's data in one copy. An
 * eager message without a receive is copied into a buffer; a rendezvous one stays with its sender until it is matched.
 */
export class SendPath {
  readonly #state: CommContext
  readonly #mailboxes: Mailboxes
  readonly #addressQueue: AddressQueue
  readonly #rendezvous: RendezvousProtocol
  readonly #arrivals: Arrivals
  readonly #envelopes: EnvelopeCount
  #closing = false

  constructor(
    state: CommContext,
    mailboxes: Mailboxes,
    addressQueue: AddressQueue,
    rendezvous: RendezvousProtocol,
    arrivals: Arrivals,
    envelopes: EnvelopeCount,
  ) {
    this.#state = state
    this.#mailboxes = mailboxes
    this.#addressQueue = addressQueue
    this.#rendezvous = rendezvous
    this.#arrivals = arrivals
    this.#envelopes = envelopes
  }

  /** Starts a send. Sends of one rank to another keep their order, also while the destination is looked up. */
  start(send: Send): void {
    if (this.#addressQueue.holds(send)) return
    const mailbox = this.#mailboxes.get(send.dest)
    if (mailbox !== undefined) {
      this.#sendHere(send, mailbox)
      return
    }
    const found = this.#state.table.lookup(send.dest)
    if (typeof found === 'number') this.#sendTo(send, found)
    else this.#addressQueue.wait(send, found, (each, worldRank) => this.#sendLate(each, worldRank))
  }

  withdraw(send: Send, error: RankweaveError): void {
    if (send.stage === 'moving') return
    if (send.stage === 'queued') {
      send.reject(error)
      return
    }
    const { message } = send
    if (message !== undefined) {
      if (!message.listed) return
      message.leaveQueue()
      send.reject(error)
    } else if (send.cancelledBy === undefined && !this.#closing) {
      send.cancelledBy = error
      this.#envelopes.leave(send.process)
      this.#rendezvous.askBack(send)
    }
  }

  /** Stops taking sends back from other processes. */
  close(): void {
    this.#closing = true
  }

  /** Sends after a look-up, during which the program may have detached the buffer. */
  #sendLate(send: Send, worldRank: number): void {
    if (send.isIntact) this.#sendTo(send, worldRank)
    else send.reject(send.detachedError())
  }

  #sendTo(send: Send, worldRank: number): void {
    const { runtime } = this.#state
    const hosted = worldRank - runtime.firstRank
    if (hosted >= 0 && hosted < runtime.hostedRanks) {
      this.#sendHere(send, this.#mailboxes.get(send.dest) ?? this.#mailboxes.add(send.dest, worldRank))
      return
    }
    const process = processOf(runtime.layout, worldRank)
    const lost = runtime.lostPeer(process)
    if (lost !== undefined) {
      send.reject(lost)
      return
    }
    send.process = process
    countSent(send)
    this.#envelopes.leave(process)
    if (this.#isEager(send, process)) this.#rendezvous.sendEager(send, worldRank)
    else this.#rendezvous.offer(send, worldRank)
  }

  #sendHere(send: Send, mailbox: Mailbox): void {
    const { owner, payload, tag } = send
    const { runtime } = this.#state
    countSent(send)
    runtime.processCounters.messagesInProcess++
    mailbox.watch?.arrive(owner.rank, tag, payload.sizeBytes)
    const receive = mailbox.posted.find(owner.rank, tag)
    const { type, countElems, sizeBytes } = payload
    const envelope: Envelope = { source: owner.rank, tag, type, countElems, sizeBytes }
    if (receive?.kind === 'recv') {
      mailbox.posted.remove(receive)
      if (receive.into === undefined) runtime.fresh.take(sizeBytes)
      deliverCopy(receive, envelope, payload.data)
      send.fulfil()
      return
    }
    let content: Content
    if (!send.synchronous && this.#isEager(send, runtime.process)) {
      content = {
        kind: 'held',
        data: this.#buffered(send),
        process: runtime.process,
        transferId: 0,
        acknowledge: false,
      }
      send.fulfil()
    } else {
      content = { kind: 'local', send }
      send.stage = 'offered'
    }
    const message = new Arrived(mailbox.arrived, envelope, content)
    if (content.kind === 'local') send.message = message
    this.#arrivals.enter(mailbox, message, receive)
  }

  #isEager({ payload }: Send, process: number): boolean {
    const { sizeBytes } = payload
    const { options, credit } = this.#state.runtime
    return sizeBytes <= options.eagerLimitBytes && credit.take(process, sizeBytes)
  }

  /** Returns the data of a send in separate memory; an encoded value already is. */
  #buffered({ payload }: Send): TypedArray {
    if (payload.type === typeCode.value) return payload.data as TypedArray
    const { processCounters, fresh } = this.#state.runtime
    processCounters.bytesCopied += payload.sizeBytes
    fresh.take(payload.sizeBytes)
    return pack(payload.data)
  }
}

function countSent({ owner, payload }: Send): void {
  owner.counters.messagesSent++
  owner.counters.bytesSent += payload.sizeBytes
}
