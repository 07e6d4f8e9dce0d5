import { copyBytes } from '../../base/bytes.js'
import type { CheckedBuffer, CheckedBuffers } from '../datatype/checked-buffers.js'
import { elementSizeBytes, newArrayOf, type TypedArray, typeCode, typeCodeOf } from '../datatype/elements.js'
import { requireReceiveBuffer } from '../datatype/payload.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import type { Message } from '../mailboxes/arrived.js'
import { ANY_SOURCE, ANY_TAG } from '../mailboxes/envelope.js'
import type { Mailbox } from '../mailboxes/mailbox.js'
import { Receive } from '../mailboxes/pending-operation.js'
import type { CommContext } from '../process/comm-context.js'
import type { Credit } from '../process/credit.js'
import type { EagerSink } from '../process/frame-router.js'
import { envelopeWord, envelopeWords, frameKind, headerWord } from '../process/frames.js'
import { processOf } from '../process/world-layout.js'
import type { AddressQueue, EnvelopeCount, SentEnvelopes } from './send-path.js'

interface Route {
  readonly dest: number
  readonly process: number
  readonly sent: SentEnvelopes
}

/**
 * The path of most messages: an array that fits in one frame, between ranks of two processes, whose receive is there
 * when it arrives. Envelope and data are read in the fabric's memory, and the message is the only object that is made.
 * All other messages are refused here, before anything has changed, and take the general path (`Matching`).
 */
export class EagerFastPath implements EagerSink {
  readonly #state: CommContext
  readonly #credit: Credit
  readonly #mailboxes: ReadonlyMap<number, Mailbox>
  readonly #addressQueue: AddressQueue
  readonly #envelopes: EnvelopeCount
  readonly #header = new Int32Array(envelopeWords)
  /** The route of the last message, which the next one takes most often. Its words are in the header. */
  #route: Route | undefined
  readonly #sent: CheckedBuffers
  readonly #filled: CheckedBuffers
  readonly #unposted = new UnpostedReceive()
  #stopped = false

  constructor(
    state: CommContext,
    mailboxes: ReadonlyMap<number, Mailbox>,
    addressQueue: AddressQueue,
    envelopes: EnvelopeCount,
  ) {
    this.#state = state
    this.#credit = state.runtime.credit
    this.#sent = state.runtime.sentBuffers
    this.#filled = state.runtime.filledBuffers
    this.#mailboxes = mailboxes
    this.#addressQueue = addressQueue
    this.#envelopes = envelopes
    this.#header[headerWord.kind] = frameKind.eager
    this.#header[headerWord.leader] = state.id.leader
    this.#header[headerWord.counter] = state.id.counter
  }

  /** Refuses all messages from now on, because the communicator has failed, or has lost a process. */
  stop(): void {
    this.#stopped = true
  }

  /** Sends a short array to a rank in another process. Returns false, with nothing done, for everything else. */
  send(owner: Mailbox, data: unknown, dest: number, tag: number): boolean {
    if (this.#stopped || !this.#addressQueue.none) return false
    const { runtime } = this.#state
    let checked = this.#sent.find(data)
    if (checked === undefined) {
      if (!ArrayBuffer.isView(data) || typeCodeOf(data) === typeCode.value) return false
      checked = this.#sent.check(data as TypedArray)
    }
    const { type, bytes } = checked
    const sizeBytes = bytes.length
    const route = this.#route?.dest === dest ? this.#route : this.#routeTo(dest)
    if (route === undefined || sizeBytes > runtime.shortBytes) return false
    if (!this.#credit.take(route.process, sizeBytes)) return false
    const { counters } = owner
    counters.messagesSent++
    counters.bytesSent += sizeBytes
    route.sent.count++
    const header = this.#header
    header[envelopeWord.source] = owner.rank
    header[envelopeWord.tag] = tag
    header[envelopeWord.type] = type
    header[envelopeWord.sizeBytes] = sizeBytes
    runtime.send(route.process, header, bytes)
    return true
  }

  /**
   * Returns the route to a rank in another process; undefined for a rank here, or one whose address may have to be
   * fetched.
   */
  #routeTo(dest: number): Route | undefined {
    const { runtime, table } = this.#state
    if (table.kind === 'distributed') return undefined
    const worldRank = table.lookup(dest)
    const process = processOf(runtime.layout, worldRank)
    if (process === runtime.process) return undefined
    this.#header[envelopeWord.destWorldRank] = worldRank
    this.#header[envelopeWord.dest] = dest
    this.#route = { dest, process, sent: this.#envelopes.to(process) }
    return this.#route
  }

  /**
   * Checks a receive buffer; returns its bytes if messages can be copied straight into them.
   *
   * @throws as {@link requireReceiveBuffer}
   */
  landing(into: ReceiveBuffer): CheckedBuffer | undefined {
    const known = this.#filled.find(into)
    if (known !== undefined) return known
    if (ArrayBuffer.isView(into) && typeCodeOf(into) !== typeCode.value) return this.#filled.check(into)
    requireReceiveBuffer(into)
    return undefined
  }

  /**
   * Polls for the message of a receive that its rank is about to wait for. Returns the message; or the receive, if it
   * had to be posted; undefined when nothing was done.
   *
   * @param landing of `into`, which has been checked
   */
  seek(
    owner: Mailbox,
    source: number,
    tag: number,
    into: ReceiveBuffer | undefined,
    landing: CheckedBuffer | undefined,
  ): Message | Receive<Message> | undefined {
    const { progress } = this.#state.runtime
    if (this.#stopped || !progress.mayPoll || owner.arrived.find(source, tag) !== undefined) return undefined
    const unposted = this.#unposted
    unposted.begin(owner, source, tag, into, landing)
    try {
      progress.pollFor(unposted)
      return unposted.isFound ? unposted.message : unposted.posted
    } finally {
      unposted.end()
    }
  }

  /** Posts the unposted receive, if there is one, because an arrived message must see it. */
  post(): void {
    this.#unposted.post()
  }

  /**
   * Delivers an eager message in the fabric's memory. Returns true when it went to its receive; otherwise false, with
   * nothing done.
   */
  arrive(
    src: number,
    words: Int32Array,
    at: number,
    bytes: Uint8Array,
    payloadAt: number,
    payloadBytes: number,
  ): boolean {
    const type = words[at + envelopeWord.type]
    if (
      this.#stopped ||
      this.#envelopes.awaited ||
      type === typeCode.value ||
      words[at + envelopeWord.transferId] !== 0 ||
      words[at + envelopeWord.sizeBytes] !== payloadBytes
    ) {
      return false
    }
    const unposted = this.#unposted
    const dest = words[at + envelopeWord.dest]
    const mailbox = unposted.owner?.rank === dest ? unposted.owner : this.#mailboxes.get(dest)
    if (mailbox === undefined) return false
    const source = words[at + envelopeWord.source]
    const tag = words[at + envelopeWord.tag]
    // Posted receives precede the unposted one.
    const receive = mailbox.posted.find(source, tag)
    const count = payloadBytes / elementSizeBytes(type)
    let data: ReceiveBuffer | undefined
    let landing: CheckedBuffer | undefined
    if (receive === undefined) {
      if (unposted.owner !== mailbox || !unposted.accepts(source, tag)) return false
      data = unposted.into
      landing = unposted.landing
    } else {
      if (receive.kind !== 'recv') return false
      data = receive.into
      landing = receive.landing
    }
    if (data === undefined) {
      this.#state.runtime.fresh.take(payloadBytes)
      data = newArrayOf(type, bytes, payloadAt, payloadBytes)
    } else {
      if (landing === undefined || landing.type !== type) return false
      const target = landing.bytes
      if (payloadBytes > target.length) return false
      if (payloadBytes <= smallBytes) {
        for (let i = 0; i < payloadBytes; i++) target[i] = bytes[payloadAt + i]
      } else copyBytes(target, 0, bytes.subarray(payloadAt, payloadAt + payloadBytes))
    }
    const { counters } = mailbox
    counters.messagesReceived++
    counters.bytesReceived += payloadBytes
    this.#state.runtime.processCounters.bytesCopied += payloadBytes
    if (receive === undefined) unposted.found(source, tag, count, payloadBytes, data)
    else {
      mailbox.posted.remove(receive)
      receive.fulfill({ source, tag, count, sizeBytes: payloadBytes, data })
    }
    this.#credit.consumed(src, payloadBytes)
    this.#envelopes.arrive()
    return true
  }
}

/** The largest size in bytes for which a loop is faster than a call. */
const smallBytes = 32

/** A receive whose rank polls for its message before it waits: it is posted only when another message must see it. */
class UnpostedReceive {
  /** Undefined while there is no such receive. */
  owner: Mailbox | undefined
  into: ReceiveBuffer | undefined
  /** Undefined if messages cannot be copied into `into` directly. */
  landing: CheckedBuffer | undefined
  posted: Receive<Message> | undefined
  /** The message that was found, in fields; `message` makes the object. */
  data: ReceiveBuffer | undefined
  source = 0
  tag = 0
  count = 0
  sizeBytes = 0
  isFound = false
  #fromSource = 0
  #withTag = 0

  get settled(): boolean {
    return this.isFound || this.posted?.settled === true
  }

  begin(
    owner: Mailbox,
    source: number,
    tag: number,
    into: ReceiveBuffer | undefined,
    landing: CheckedBuffer | undefined,
  ): void {
    this.owner = owner
    this.#fromSource = source
    this.#withTag = tag
    this.into = into
    this.landing = landing
  }

  accepts(source: number, tag: number): boolean {
    return (
      (this.#fromSource === source || this.#fromSource === ANY_SOURCE) &&
      (this.#withTag === tag || this.#withTag === ANY_TAG)
    )
  }

  found(source: number, tag: number, count: number, sizeBytes: number, data: ReceiveBuffer): void {
    this.source = source
    this.tag = tag
    this.count = count
    this.sizeBytes = sizeBytes
    this.data = data
    this.isFound = true
    this.owner = undefined
  }

  /**
   * The message as an object, made when it is handed on: storing a young object in an old one costs more than making
   * it.
   */
  get message(): Message {
    const { source, tag, count, sizeBytes, data } = this
    return { source, tag, count, sizeBytes, data }
  }

  post(): void {
    const { owner } = this
    if (owner === undefined) return
    this.owner = undefined
    this.posted = new Receive<Message>(
      owner,
      'recv',
      this.#fromSource,
      this.#withTag,
      this.into,
      this.landing,
    )
    owner.posted.add(this.posted)
  }

  /** Releases everything. */
  end(): void {
    this.owner = undefined
    this.into = undefined
    this.landing = undefined
    this.data = undefined
    this.isFound = false
    this.posted = undefined
  }
}
