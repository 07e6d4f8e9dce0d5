import { indexIn } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { MemoryLocation } from '../../fabric/fabric.js'
import { elementsIn, newArray, newArrayOf, type TypedArray, typeCode } from '../datatype/elements.js'
import { Arrived } from '../mailboxes/arrived.js'
import { type Envelope, envelopeIn } from '../mailboxes/envelope.js'
import type { Mailbox, Mailboxes } from '../mailboxes/mailbox.js'
import type { Receive } from '../mailboxes/pending-operation.js'
import type { CommContext } from '../process/comm-context.js'
import type { Credit } from '../process/credit.js'
import { cancelReason, envelopeWord, frameKind, headerWord, locationWord } from '../process/frames.js'
import { deliverBytes, MatchedReceive, placeFor } from './delivery.js'
import type { RendezvousProtocol } from './rendezvous-protocol.js'
import type { UnexpectedMessages } from './unexpected-messages.js'

/**
 * The messages of one communicator as they arrive: each goes to its posted receive, or into the mailbox until there is
 * one.
 */
export class Arrivals {
  /** The messages removed from matching by a matched probe and not yet received. */
  readonly extracted = new Set<Arrived>()
  readonly #state: CommContext
  readonly #credit: Credit
  readonly #mailboxes: Mailboxes
  readonly #rendezvous: RendezvousProtocol
  readonly #unexpected: UnexpectedMessages

  constructor(
    state: CommContext,
    mailboxes: Mailboxes,
    rendezvous: RendezvousProtocol,
    unexpected: UnexpectedMessages,
  ) {
    this.#state = state
    this.#credit = state.runtime.credit
    this.#mailboxes = mailboxes
    this.#rendezvous = rendezvous
    this.#unexpected = unexpected
  }

  /** Takes in an eager message, or the first part of a long one. */
  eager(src: number, header: Int32Array, payload: Uint8Array): void {
    const envelope = envelopeIn(header)
    const transferId = header[envelopeWord.transferId]
    const acknowledge = header[envelopeWord.acknowledge] === 1
    const mailbox = this.#mailboxOf(header)
    mailbox.watch?.arrive(envelope.source, envelope.tag, envelope.sizeBytes)
    const receive = mailbox.posted.find(envelope.source, envelope.tag)
    const whole = payload.byteLength === envelope.sizeBytes
    if (whole && receive?.kind === 'recv') {
      mailbox.posted.remove(receive)
      deliverBytes(receive, envelope, payload)
      this.#credit.consumed(src, envelope.sizeBytes)
      if (acknowledge) this.#rendezvous.acknowledge(src, transferId)
      return
    }
    const from = { process: src, transferId, acknowledge }
    const message = new Arrived(
      mailbox.arrived,
      envelope,
      whole
        ? { kind: 'held', data: this.#arrayOf(envelope, payload), ...from }
        : { kind: 'filling', ...this.#roomFor(receive, envelope), ...from, filledBytes: 0 },
    )
    if (transferId !== 0) this.#unexpected.open(src, transferId, message)
    if (whole) this.#state.runtime.processCounters.bytesCopied += payload.byteLength
    else this.#unexpected.fill(message, payload)
    this.enter(mailbox, message, receive)
  }

  /**
   * Returns the memory for the parts of a message: that of the receive that has matched it, if that can take them. A
   * message that waits uses the memory of an earlier one: fresh memory costs more than one more copy.
   */
  #roomFor(receive: Receive<unknown> | undefined, envelope: Envelope) {
    if (receive?.kind === 'recv') {
      const place = placeFor(receive, envelope, this.#state.runtime.fresh)
      if (!(place instanceof RankweaveError)) {
        return { data: place.bytes, landing: new MatchedReceive(this.#state, envelope, receive, place) }
      }
    }
    const { type, sizeBytes } = envelope
    const { scratch } = this.#state.runtime
    const memory = newArray(typeCode.Uint8Array, sizeBytes, (bytes) => scratch.take(bytes)) as Uint8Array
    return {
      data: elementsIn(type, memory.subarray(0, sizeBytes)),
      scratch: memory.buffer as ArrayBuffer,
    }
  }

  #arrayOf({ type, sizeBytes }: Envelope, payload: Uint8Array): TypedArray {
    this.#state.runtime.fresh.take(sizeBytes)
    return newArrayOf(type, payload, 0, sizeBytes)
  }

  /** Takes in a message whose data stay with the sender until it is matched. */
  offer(src: number, header: Int32Array): void {
    const transferId = header[envelopeWord.transferId]
    const mailbox = this.#mailboxOf(header)
    const content = {
      kind: 'remote',
      process: src,
      transferId,
      ...this.#dataOf(src, header),
    } as const
    const message = new Arrived(mailbox.arrived, envelopeIn(header), content)
    this.#unexpected.open(src, transferId, message)
    mailbox.watch?.arrive(message.source, message.tag, message.sizeBytes)
    this.enter(mailbox, message, mailbox.posted.find(message.source, message.tag))
  }

  /** Returns the place from which the payload of an offered message can be read or copied here, if it can. */
  #dataOf(src: number, header: Int32Array): { bytes?: Uint8Array; loan?: MemoryLocation } {
    const sizeBytes = header[envelopeWord.sizeBytes] >>> 0
    if (sizeBytes === 0) return { bytes: noBytes }
    if (header[headerWord.kind] !== frameKind.shared) return {}
    const byteOffset = (header[locationWord.offsetLow] >>> 0) + header[locationWord.offsetHigh] * 2 ** 32
    const location = { segment: header[locationWord.segment], byteOffset }
    const { sharing } = this.#state.runtime.fabric
    return sharing === undefined ? { loan: location } : { bytes: sharing.reach(src, location, sizeBytes) }
  }

  /**
   * Takes back a message whose sender requests it. It has no effect once the message is matched: the reply to the match
   * settles the send.
   */
  takeBack(src: number, transferId: number): void {
    const message = this.#unexpected.find(src, transferId)
    if (message === undefined || !message.listed) return
    message.leaveQueue()
    this.#unexpected.discard(message, cancelReason.asked)
  }

  /**
   * Hands a message over, or queues it.
   *
   * @param receive the first posted receive that matches, if any
   */
  enter(mailbox: Mailbox, message: Arrived, receive: Receive<unknown> | undefined): void {
    if (receive !== undefined) {
      mailbox.posted.remove(receive)
      if (receive.kind === 'recv') this.#unexpected.give(message, receive)
      else receive.fulfill(this.extract(message))
      return
    }
    message.watch = mailbox.watch
    mailbox.arrived.add(message)
    if (mailbox.probes.size === 0) return
    for (const probe of [...mailbox.probes]) {
      if (!probe.accepts(message)) continue
      mailbox.probes.delete(probe)
      probe.fulfill(message.status)
    }
  }

  extract(message: Arrived): Arrived {
    this.extracted.add(message)
    return message
  }

  /** @throws ERR_PROTOCOL for a rank that is not here, and for a source that is not a rank */
  #mailboxOf(header: Int32Array): Mailbox {
    const { size } = this.#state
    const source = header[envelopeWord.source]
    if (source < 0 || source >= size)
      throw wrongValue('ERR_PROTOCOL', `a message: expected a source from 0 to ${size - 1}`, source)
    const rank = header[envelopeWord.dest]
    return this.#mailboxes.get(rank) ?? this.#newMailbox(rank, header[envelopeWord.destWorldRank])
  }

  #newMailbox(rank: number, worldRank: number): Mailbox {
    const { localRanks } = this.#state
    const at = indexIn(localRanks, rank)
    if (at < 0 || this.#state.worldRank(at) !== worldRank)
      throw wrongValue('ERR_PROTOCOL', 'a message: expected a rank of this process', rank)
    return this.#mailboxes.add(rank, worldRank)
  }
}

const noBytes = new Uint8Array(0)
