import { indexIn } from '../../base/search.js'
import type { RankweaveError } from '../../errors.js'
import type { Arrived, Status } from '../mailboxes/arrived.js'
import { ANY_SOURCE } from '../mailboxes/envelope.js'
import { type Mailbox, Mailboxes, type Withdrawal } from '../mailboxes/mailbox.js'
import type { MatchingStatistics } from '../mailboxes/matching-meter.js'
import { freedError, type Receive, type Send } from '../mailboxes/pending-operation.js'
import type { CommContext } from '../process/comm-context.js'
import type { Credit } from '../process/credit.js'
import { cancelStage, envelopeWord, frameKind, headerWord, transferWord } from '../process/frames.js'
import { Transfers } from '../process/transfers.js'
import { processOf } from '../process/world-layout.js'
import { Arrivals } from './arrivals.js'
import { EagerFastPath } from './eager-fast-path.js'
import { RendezvousProtocol } from './rendezvous-protocol.js'
import { AddressQueue, EnvelopeCount, SendPath } from './send-path.js'
import { UnexpectedMessages } from './unexpected-messages.js'

/**
 * The point-to-point matching of one communicator in one process (MPI-4.1 §3.5). It decides which message goes to which
 * receive, and what happens to both when the communicator is freed or fails. A receive is matched here when it is
 * posted. A message is matched when it arrives ({@link Arrivals}, {@link EagerFastPath}), or when it is sent within the
 * process ({@link SendPath}).
 */
export class Matching implements Withdrawal {
  readonly #state: CommContext
  readonly #credit: Credit
  readonly #rendezvous: RendezvousProtocol
  readonly #mailboxes: Mailboxes
  readonly #addressQueue = new AddressQueue()
  readonly short: EagerFastPath
  /** The counts that a collective free adds up. */
  readonly envelopes = new EnvelopeCount()
  readonly #unexpected: UnexpectedMessages
  readonly #arrivals: Arrivals
  readonly #sends: SendPath
  #anyLost = false
  #failed: RankweaveError | undefined

  constructor(state: CommContext) {
    this.#state = state
    this.#credit = state.runtime.credit
    this.#rendezvous = new RendezvousProtocol(state)
    this.#unexpected = new UnexpectedMessages(state, this.#rendezvous)
    this.#mailboxes = new Mailboxes(state, this)
    this.#arrivals = new Arrivals(state, this.#mailboxes, this.#rendezvous, this.#unexpected)
    this.short = new EagerFastPath(state, this.#mailboxes, this.#addressQueue, this.envelopes)
    this.#sends = new SendPath(
      state,
      this.#mailboxes,
      this.#addressQueue,
      this.#rendezvous,
      this.#arrivals,
      this.envelopes,
    )
    for (const peer of state.runtime.lostPeers) this.#anyLost ||= state.processes.processes.includes(peer)
    // The fast path has no queues that could be counted or recorded.
    const { options, matchingTraces } = state.runtime
    if (this.#anyLost || options.matching?.count === true || matchingTraces !== undefined) this.short.stop()
  }

  /**
   * Resolves when no send waits for the address of its destination; only then are the counts of `envelopes` complete.
   */
  whenAddressed(): Promise<void> {
    return this.#addressQueue.whenNone()
  }

  /** The statistics of the local ranks that have taken part in a message; none unless the world counts matching. */
  get statistics(): MatchingStatistics[] {
    return [...this.#mailboxes.values()].flatMap(({ rank, meter }) => meter?.statistics(rank) ?? [])
  }

  get mailboxes(): Iterable<Mailbox> {
    return this.#mailboxes.values()
  }

  mailbox(rank: number): Mailbox {
    return this.#mailboxes.get(rank) ?? this.#mailboxes.add(rank, this.#state.table.lookup(rank) as number)
  }

  /** Starts a send. Sends of one rank to another keep their order, also while the destination is looked up. */
  send(send: Send): void {
    if (this.#failed !== undefined) {
      send.reject(this.#failed)
      return
    }
    this.#sends.start(send)
  }

  /**
   * Starts a receive or a probe.
   *
   * @param mailbox of its owner
   */
  receive(mailbox: Mailbox, receive: Receive<unknown>): void {
    const { source, tag } = receive
    mailbox.meter?.receives(source, tag)
    if (receive.kind === 'probe') mailbox.watch?.probe(source, tag)
    else mailbox.watch?.post(receive, source, tag)
    const message = mailbox.arrived.find(source, tag)
    if (message !== undefined) {
      this.#satisfy(mailbox, receive, message)
      return
    }
    const error = this.#failed ?? (this.#anyLost ? this.#lostSource(mailbox, source) : undefined)
    if (error !== undefined) {
      mailbox.watch?.cancel(receive)
      receive.reject(error)
    } else if (receive.kind === 'probe') mailbox.probes.add(receive)
    else mailbox.posted.add(receive)
  }

  /** Returns the status of the earliest message that a receive would get now. */
  peek(mailbox: Mailbox, source: number, tag: number): Status | undefined {
    this.#requireSource(mailbox, source, tag)
    mailbox.meter?.receives(source, tag)
    mailbox.watch?.probe(source, tag)
    return mailbox.arrived.find(source, tag)?.status
  }

  /** Removes that message from matching. */
  extract(mailbox: Mailbox, source: number, tag: number): Arrived | undefined {
    this.#requireSource(mailbox, source, tag)
    mailbox.meter?.receives(source, tag)
    mailbox.watch?.mprobe(source, tag)
    const message = mailbox.arrived.find(source, tag)
    if (message === undefined) return undefined
    mailbox.arrived.remove(message)
    return this.#arrivals.extract(message)
  }

  /** Receives a message that was removed from matching. */
  receiveExtracted(message: Arrived, receive: Receive<unknown>): void {
    this.#arrivals.extracted.delete(message)
    this.#unexpected.give(message, receive)
  }

  withdrawSend(send: Send, error: RankweaveError): void {
    this.#sends.withdraw(send, error)
  }

  abandonReceive(receive: Receive<unknown>, error: RankweaveError): void {
    this.#rendezvous.abandon(receive, error)
    this.#unexpected.abandon(receive, error)
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    this.short.post()
    switch (header[headerWord.kind]) {
      case frameKind.eager:
        if (this.#failed === undefined) this.#arrivals.eager(src, header, payload)
        else this.#credit.consumed(src, header[envelopeWord.sizeBytes] >>> 0)
        this.envelopes.arrive()
        return
      case frameKind.rendezvous:
      case frameKind.shared:
        if (this.#failed === undefined) this.#arrivals.offer(src, header)
        this.envelopes.arrive()
        return
      case frameKind.cancel:
        if (header[transferWord.argument] === cancelStage.matched) break
        this.#arrivals.takeBack(src, header[transferWord.transferId])
        this.envelopes.arrive()
        return
      case frameKind.data: {
        const message = this.#unexpected.find(src, header[transferWord.transferId])
        if (message === undefined) break
        this.#unexpected.fill(message, payload)
        return
      }
    }
    if (Transfers.concerns(header)) this.#state.transfers.frame(src, header, payload)
    else this.#rendezvous.frame(src, header)
  }

  /**
   * Resolves when `count` envelopes have arrived here from other processes in total.
   *
   * @throws the error of the communicator, if it fails first
   */
  whenArrived(count: number): Promise<void> {
    return this.#failed === undefined ? this.envelopes.whenArrived(count) : Promise.reject(this.#failed)
  }

  /**
   * Ends point-to-point communication after every process has stopped starting operations and all envelopes have
   * arrived. Receives that no message can still match and sends that no receive has matched fail with ERR_COMM_FREED.
   * Resolves when matched transfers have completed, so that no frame of this communicator is in flight from here.
   */
  async close(): Promise<void> {
    this.#sends.close()
    this.short.post()
    for (const mailbox of this.#mailboxes.values()) {
      for (const receive of [...mailbox.posted, ...mailbox.probes]) {
        mailbox.withdrawReceive(receive, freedError(receive))
      }
      for (const message of [...mailbox.arrived]) {
        mailbox.watch?.mprobe(message.source, message.tag)
        mailbox.arrived.remove(message)
        this.#unexpected.discard(message)
      }
    }
    for (const message of this.#arrivals.extracted) this.#unexpected.discard(message)
    this.#arrivals.extracted.clear()
    await this.#unexpected.close()
    await this.#rendezvous.idle()
  }

  fail(error: RankweaveError): void {
    if (this.#failed !== undefined) return
    this.#failed = error
    this.short.post()
    this.short.stop()
    // Operations whose payload is being transferred fail when it is no longer accessed (`Transfers.fail`).
    for (const operation of [...this.#untransferred()]) operation.reject(error)
    for (const mailbox of this.#mailboxes.values()) {
      for (const message of mailbox.arrived) this.#unexpected.lose(message, error)
    }
    for (const message of this.#arrivals.extracted) this.#unexpected.lose(message, error)
    this.#unexpected.fail(error)
    this.#mailboxes.clear()
    this.#addressQueue.fail(error)
    this.#arrivals.extracted.clear()
    this.envelopes.fail(error)
  }

  /**
   * Fails receives with ERR_PEER_LOST that only process `peer` can satisfy, or that it could have (any source), and
   * sends to it. Receives from any source fail until their rank has acknowledged the loss; then they wait for the
   * living ranks.
   */
  peerLost(peer: number, error: RankweaveError): void {
    this.#anyLost = true
    this.short.post()
    this.short.stop()
    for (const mailbox of this.#mailboxes.values()) {
      for (const receive of [...mailbox.posted, ...mailbox.probes]) {
        if (this.#lostSource(mailbox, receive.source) !== undefined) mailbox.withdrawReceive(receive, error)
      }
    }
    this.#unexpected.fail(error, peer)
  }

  awaited(): (Send | Receive<unknown>)[] {
    const awaited: (Send | Receive<unknown>)[] = []
    for (const operation of this.#pending()) if (operation.awaited) awaited.push(operation)
    return awaited
  }

  /** @param message is in the mailbox of the receive and matches it */
  #satisfy(mailbox: Mailbox, receive: Receive<unknown>, message: Arrived): void {
    if (receive.kind === 'probe') {
      receive.fulfill(message.status)
      return
    }
    mailbox.arrived.remove(message)
    if (receive.kind === 'recv') this.#unexpected.give(message, receive)
    else receive.fulfill(this.#arrivals.extract(message))
  }

  /** @throws ERR_PEER_LOST when there is no such message, and none can be waited for */
  #requireSource(mailbox: Mailbox, source: number, tag: number): void {
    if (!this.#anyLost || mailbox.arrived.find(source, tag) !== undefined) return
    const error = this.#lostSource(mailbox, source)
    if (error !== undefined) throw error
  }

  /** Returns why nothing more can come from `source`, if its process is lost. */
  #lostSource({ rank }: Mailbox, source: number): RankweaveError | undefined {
    if (source === ANY_SOURCE) return this.#lostAny(rank)
    if (this.#mailboxes.has(source)) return undefined
    const { runtime, table } = this.#state
    const worldRank = table.lookup(source)
    // A look-up in progress fails by itself if it needs the lost process.
    return typeof worldRank === 'number' ? runtime.lostPeer(processOf(runtime.layout, worldRank)) : undefined
  }

  /**
   * Returns why a rank here may wait without success for a message from any source: losses it has not
   * acknowledged, or it is left alone.
   */
  #lostAny(rank: number): RankweaveError | undefined {
    const { losses, localRanks, processes } = this.#state
    const unacknowledged = losses.unacknowledged(indexIn(localRanks, rank))
    if (unacknowledged !== undefined) return unacknowledged
    const isAlone = localRanks.length === 1 && losses.processes.length === processes.count - 1
    return isAlone ? losses.last : undefined
  }

  *#pending(): Generator<Send | Receive<unknown>> {
    for (const operation of this.#started()) if (!operation.settled) yield operation
  }

  *#started(): Generator<Send | Receive<unknown>> {
    yield* this.#rendezvous.sends
    yield* this.#rendezvous.receives
    yield* this.#untransferred()
  }

  *#untransferred(): Generator<Send | Receive<unknown>> {
    yield* this.#unexpected.receives
    for (const { posted, probes, arrived } of this.#mailboxes.values()) {
      yield* posted
      yield* probes
      for (const { content } of arrived) if (content.kind === 'local') yield content.send
    }
    for (const { content } of this.#arrivals.extracted) if (content.kind === 'local') yield content.send
    yield* this.#addressQueue.sends
  }
}
