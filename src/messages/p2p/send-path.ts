import type { RankweaveError } from '../../errors.js'
import { type TypedArray, typeCode } from '../datatype/elements.js'
import { pack } from '../datatype/strided-view.js'
import { Arrived, type Content } from '../mailboxes/arrived.js'
import type { Envelope } from '../mailboxes/envelope.js'
import type { Mailbox, Mailboxes } from '../mailboxes/mailbox.js'
import type { Send } from '../mailboxes/pending-operation.js'
import type { CommContext } from '../process/comm-context.js'
import { processOf } from '../process/world-layout.js'
import type { Arrivals } from './arrivals.js'
import { deliverCopy } from './delivery.js'
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
      send.fulfill()
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
      send.fulfill()
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

/**
 * The sends to ranks whose addresses are being looked up. A send to a rank waits behind those that were started before,
 * so that none overtakes another during a look-up.
 */
export class AddressQueue {
  readonly #waiting = new Map<number, Send[]>()
  #whenNone: { readonly resolve: () => void; readonly reject: (error: RankweaveError) => void } | undefined

  get none(): boolean {
    return this.#waiting.size === 0
  }

  /** Returns true when the send has been queued behind others to its rank. */
  holds(send: Send): boolean {
    if (this.#waiting.size === 0) return false
    const queue = this.#waiting.get(send.dest)
    queue?.push(send)
    return queue !== undefined
  }

  /** @param dispatch called for this send, and those behind it, in order, with the world rank once it is known */
  wait(send: Send, found: Promise<number>, dispatch: (send: Send, worldRank: number) => void): void {
    const queue = [send]
    this.#waiting.set(send.dest, queue)
    const release = (each: (send: Send) => void) => {
      this.#waiting.delete(send.dest)
      for (const waiting of queue) if (!waiting.settled) each(waiting)
      if (this.none) this.#whenNone?.resolve()
    }
    found.then(
      (worldRank) => release((waiting) => dispatch(waiting, worldRank)),
      (cause: RankweaveError) => release((waiting) => waiting.reject(cause)),
    )
  }

  get sends(): Send[] {
    return [...this.#waiting.values()].flat()
  }

  /**
   * Resolves when all sends so far have been dispatched or have failed. It is awaited before the communicator is freed.
   */
  whenNone(): Promise<void> {
    if (this.none) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#whenNone = { resolve, reject }
    })
  }

  fail(error: RankweaveError): void {
    this.#waiting.clear()
    this.#whenNone?.reject(error)
  }
}

/**
 * The envelopes sent to one process so far. The count is a double: one of 32 bits would wrap within an hour of small
 * messages.
 */
export interface SentEnvelopes {
  count: number
}

/**
 * The envelopes of one communicator that left this process and that arrived at it, so that a collective free knows when
 * nothing is in flight. A request to take a message back counts as one.
 */
export class EnvelopeCount {
  /** The counts by world process; only of those that were sent any. */
  readonly #sent = new Map<number, SentEnvelopes>()
  /** The count of envelopes from all processes so far. */
  arrived = 0
  #waiting: {
    readonly count: number
    readonly resolve: () => void
    readonly reject: (error: RankweaveError) => void
  }[] = []

  /** Returns the count of a process, to be increased for every envelope that leaves for it. */
  to(process: number): SentEnvelopes {
    let sent = this.#sent.get(process)
    if (sent === undefined) {
      sent = { count: 0 }
      this.#sent.set(process, sent)
    }
    return sent
  }

  leave(process: number): void {
    this.to(process).count++
  }

  sentTo(process: number): number {
    return this.#sent.get(process)?.count ?? 0
  }

  get awaited(): boolean {
    return this.#waiting.length > 0
  }

  arrive(): void {
    this.arrived++
    if (this.#waiting.length === 0) return
    const done = this.#waiting.filter(({ count }) => count <= this.arrived)
    this.#waiting = this.#waiting.filter(({ count }) => count > this.arrived)
    for (const { resolve } of done) resolve()
  }

  /** Resolves when `count` have arrived in total. */
  whenArrived(count: number): Promise<void> {
    if (this.arrived >= count) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, resolve, reject })
    })
  }

  fail(error: RankweaveError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
