import { append, appendLinked, linked, NumberMap, takeFirst, takeFirstLinked } from '../../base/maps.js'
import { isRankweaveError, type RankweaveError } from '../../errors.js'
import { requireIntact } from '../../messages/datatype/elements.js'
import type { CommContext, WatchedCall } from '../../messages/process/comm-context.js'
import { type Credit, waitCharge } from '../../messages/process/credit.js'
import {
  collectiveWord,
  collectiveWords,
  contextKey,
  frameKind,
  headerWord,
  offsetOf,
  totalOf,
  transferMode,
  transferWord,
  transferWords,
  writeTotal,
} from '../../messages/process/frames.js'
import type { MatchingWatch } from '../../messages/process/matching-traces.js'
import type { ProcessPort } from '../../messages/process/process-port.js'
import { MemoryWait } from '../../messages/process/progress.js'
import { collectives } from '../../schedule/specification.js'
import { encodeSignature, nameInWords, type Signature } from '../signature.js'
import {
  type AwaitedReceive,
  copyOf,
  type Exchange,
  hand,
  type Lend,
  noBytes,
  type Room,
  type Take,
} from './exchange.js'
import {
  defaultPieceBytes,
  MessagesInPlace,
  OfferedMessage,
  Offers,
  type PartialMessage,
  PartialMessages,
} from './offers.js'

/** The most ended receives that are retained for reuse. */
const mostSpares = 64
const takeNothing: Take = () => {}

/** Receives notice when the collective of an exchange completes or fails. */
export interface ExchangeOwner {
  finished(exchange: FrameExchange, results: readonly unknown[]): void
  failed(exchange: FrameExchange, error: unknown): void
}

/**
 * The exchange of one collective. It sends with the collective's header, and retains arrived messages until the
 * algorithm receives them. When the collective is complete, a later one of the same lane reuses it.
 *
 * Eager messages have been charged to their sender's credit. The credit is returned exactly once: when the algorithm
 * takes the message, or when the message is dropped.
 */
export class FrameExchange implements Exchange, WatchedCall {
  readonly me: number
  readonly count: number
  readonly eagerLimitBytes: number
  readonly #state: CommContext
  readonly #owner: ExchangeOwner
  readonly #credit: Credit
  readonly #pieceBytes: number
  readonly #header = new Int32Array(collectiveWords)
  readonly #arrived = new NumberMap<(Uint8Array | OfferedMessage)[]>()
  readonly #waiting = new NumberMap<AwaitedReceive>()
  /** The receives to reuse: a persistent collective receives at every start. */
  readonly #spares: AwaitedReceive[] = []
  /** Made when the first message arrives that has several frames, or is offered. */
  #partial: PartialMessages | undefined
  /** The receives whose payload is in flight, and the process indices it comes from. */
  readonly #fetching = new Map<AwaitedReceive, { readonly peer: number; readonly message: OfferedMessage }>()
  /** Made when the first message arrives that this process can read in place. */
  #inPlace: MessagesInPlace | undefined
  /** Made when the first message is offered. */
  #offers: Offers | undefined
  #memoryWait: MemoryWait | undefined
  isWatched = false
  watched: unknown
  /** Undefined unless the world traces the messages of collectives. */
  readonly #trace: CollectiveTrace | undefined
  #signed: Signature | undefined
  #failed: Error | undefined
  #released: (() => void) | undefined

  constructor(state: CommContext, owner: ExchangeOwner, lane: number, pieceBytes = defaultPieceBytes) {
    const { runtime } = state
    this.#state = state
    this.#owner = owner
    this.#credit = runtime.credit
    this.#pieceBytes = pieceBytes
    this.#trace = CollectiveTrace.of(state)
    this.me = state.processIndex
    this.count = state.processes.count
    this.eagerLimitBytes = runtime.options.eagerLimitBytes
    this.#header[headerWord.kind] = frameKind.collective
    this.#header[headerWord.leader] = state.id.leader
    this.#header[headerWord.counter] = state.id.counter
    this.#header[collectiveWord.lane] = lane
  }

  begin(seq: number): void {
    this.#header[collectiveWord.seq] = seq
  }

  get seq(): number {
    return this.#header[collectiveWord.seq] >>> 0
  }

  get lane(): number {
    return this.#header[collectiveWord.lane]
  }

  /** Whether no receive is pending and no message is left. */
  get idle(): boolean {
    return (
      this.#waiting.size === 0 &&
      this.#arrived.size === 0 &&
      this.#partial?.isEmpty !== false &&
      this.#fetching.size === 0
    )
  }

  get hasFailed(): boolean {
    return this.#failed !== undefined
  }

  get isSent(): boolean {
    return this.#offers === undefined || this.#offers.isEmpty
  }

  /** The header of this collective's frames; its signature words are valid after {@link sign}. */
  get header(): Int32Array {
    return this.#header
  }

  sign(signature: Signature): void {
    if (signature === this.#signed) return
    this.#signed = signature
    encodeSignature(signature, this.#header, collectiveWord.signature)
  }

  send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    // An offer made now would never be withdrawn, and ranks that wait for the release of buffers would wait for it.
    if (this.#failed !== undefined) return
    // A contribution that a rank has transferred since would arrive as an empty message. A barrier passes nothing.
    if (payload.length === 0 && payload !== noBytes) requireIntact(payload)
    if (peer === this.me) {
      this.#deliver(peer, this.#key(peer, step), copyOf(payload), true)
      sent?.()
      return
    }
    const process = this.#state.processes.processes.at(peer)
    const header = this.#header
    header[collectiveWord.step] = step
    if (this.#sendAtOnce(process, payload)) {
      sent?.()
      return
    }
    const offered = payload.length <= this.eagerLimitBytes ? copyOf(payload) : payload
    this.#offers ??= new Offers(this.#state, this.#pieceBytes, (error) => this.#transferFailed(error))
    this.#offers.offer(process, header, offered, sent && (() => this.#attempt(sent)))
  }

  /**
   * Sends a message at once, in as many frames as it needs, if its receiver can store it until it is wanted. That holds
   * within the eager limit, and beyond it if an answer would take long. Returns false, with nothing done, if the message
   * has to be offered.
   */
  #sendAtOnce(process: number, payload: Uint8Array): boolean {
    const { runtime } = this.#state
    const { fabric } = runtime
    const total = payload.length
    if (total > this.eagerLimitBytes) {
      if (runtime.options.sendsAhead !== true || total > (fabric.ahead?.spaceFor(process) ?? 0)) return false
    }
    if (!this.#credit.take(process, total)) return false
    const header = this.#header
    let offset = 0
    do {
      const end = Math.min(total, offset + fabric.maxPayloadBytes)
      header[collectiveWord.offset] = offset
      writeTotal(header, total, offset)
      runtime.send(process, header, offset === 0 && end === total ? payload : payload.subarray(offset, end))
      offset = end
    } while (offset < total)
    return true
  }

  receive(peer: number, step: number): Promise<Uint8Array> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed)
    const key = this.#key(peer, step)
    if (peer !== this.me) this.#trace?.post(this.#header, peer, step)
    const message = takeFirst(this.#arrived, key)
    if (message instanceof Uint8Array) {
      this.#consumed(peer, message.byteLength)
      return Promise.resolve(message)
    }
    return new Promise((resolve, reject) => {
      const take: Take = (bytes, owned) => resolve(owned ? bytes : copyOf(bytes))
      const waiting = { take, room: undefined, reject, lend: undefined, next: undefined }
      if (message === undefined) appendLinked(this.#waiting, key, waiting)
      else this.#fetch(peer, message, waiting)
    })
  }

  take(peer: number, step: number, take: Take): void {
    if (this.#failed !== undefined) return
    this.#takeNext(peer, step, take, undefined, undefined)
  }

  takeInto(peer: number, step: number, room: Room, landed: () => void, lend?: Lend): void {
    if (this.#failed !== undefined) return
    this.#takeNext(peer, step, landed, room, lend)
  }

  watch(look: () => boolean, awaited: () => readonly number[], done: () => void): void {
    if (this.#failed !== undefined) return
    const { fabric } = this.#state.runtime
    const failed = (error: unknown) => this.#owner.failed(this, error)
    this.#memoryWait = new MemoryWait((attempt) => fabric.watch!(attempt), look, awaited, done, failed)
  }

  #takeNext(peer: number, step: number, take: Take, room: Room | undefined, lend: Lend | undefined): void {
    const key = this.#key(peer, step)
    if (peer !== this.me) this.#trace?.post(this.#header, peer, step)
    const message = takeFirst(this.#arrived, key)
    if (message === undefined) appendLinked(this.#waiting, key, this.#awaited(take, room, lend))
    else if (message instanceof OfferedMessage) this.#fetch(peer, message, this.#awaited(take, room, lend))
    else {
      this.#consumed(peer, message.byteLength)
      hand(take, room, message, true)
    }
  }

  #awaited(take: Take, room: Room | undefined, lend: Lend | undefined): AwaitedReceive {
    const spare = this.#spares.pop()
    if (spare === undefined) return { take, room, reject: undefined, lend, next: undefined }
    spare.take = take
    spare.room = room
    spare.lend = lend
    return spare
  }

  /** Retains a receive for the next one, without what it referred to. */
  #spare(ended: AwaitedReceive): void {
    ended.take = takeNothing
    ended.room = undefined
    ended.lend = undefined
    ended.next = undefined
    this.#spares.push(ended)
  }

  whenSent(done: () => void): void {
    if (this.isSent) done()
    else this.#offers!.whenEmpty(() => this.#attempt(done))
  }

  finish(results: readonly unknown[]): void {
    this.#owner.finished(this, results)
  }

  /**
   * Takes in a frame of this collective: a message, a part of one, or the offer of one. Frames of a message arrive in
   * order.
   *
   * @throws ERR_PROTOCOL for a part or an offer that does not fit those before
   */
  frame(peer: number, header: Int32Array, payload: Uint8Array): void {
    const key = this.#key(peer, header[collectiveWord.step])
    const isOffer = header[headerWord.kind] === frameKind.collectiveOffer
    if (!isOffer && header[collectiveWord.offset] === 0) this.#trace?.arrive(header, peer)
    if (isOffer) this.#offerArrived(peer, key, header, payload)
    else if (payload.length === totalOf(header) && header[collectiveWord.offset] === 0)
      this.#deliver(peer, key, payload, false)
    else this.#attempt(() => this.#partArrived(peer, key, header, payload), true)
  }

  #partArrived(peer: number, key: number, header: Int32Array, payload: Uint8Array): void {
    this.#partial ??= new PartialMessages()
    const message = this.#partial.frame(key, header, payload, this.#waiting.get(key)?.room)
    if (message === undefined) return
    if (!message.isInPlace) {
      this.#deliver(peer, key, message.bytes, true)
      return
    }
    this.#state.runtime.processCounters.bytesCopied += message.totalBytes
    this.#consumed(peer, message.totalBytes)
    // Messages of one key come in order, so this is still the receive that the first frame found.
    takeFirstLinked(this.#waiting, key)!.take(noBytes, true)
  }

  /**
   * Fails all pending and later receives with `error`, and withdraws what has been offered.
   *
   * @param released called when the fabric no longer accesses any buffer of this collective: now, or once transfers in
   *   progress have been cancelled
   */
  fail(error: RankweaveError, released: () => void): void {
    this.#failed ??= error
    this.#memoryWait?.end()
    for (const { reject } of linked(this.#waiting)) reject?.(error)
    this.#waiting.clear()
    this.drop()
    for (const [{ reject }, { message }] of [...this.#fetching]) {
      reject?.(error)
      message.abandon(this.#state.transfers, error)
    }
    this.#inPlace?.releaseAll()
    this.#offers?.withdraw(error, () => this.#checkReleased())
    this.#released = released
    this.#checkReleased()
  }

  #checkReleased(): void {
    if (this.#fetching.size > 0 || !this.isSent) return
    const released = this.#released
    this.#released = undefined
    released?.()
  }

  drop(): void {
    const arrived = this.#arrived
    for (const key of arrived.keys()) for (const message of arrived.get(key)!) this.#dropMessage(key, message)
    arrived.clear()
    this.#partial?.drop((key, message) => this.#dropMessage(key, message))
  }

  /** Returns the process indices that receives wait for, in any order. */
  awaited(): number[] {
    const fetching = Array.from(this.#fetching.values(), ({ peer }) => peer)
    const inMemory = this.#memoryWait?.awaited ?? []
    return [...this.#waiting.keys().map((key) => key % this.count), ...fetching, ...inMemory]
  }

  /** Returns the process indices that have not taken what this process offered, in any order. */
  offeredTo(): number[] {
    return this.#offers?.receivers ?? []
  }

  /** Returns the key under which receives and messages of (peer, step) are stored. */
  #key(peer: number, step: number): number {
    return step * this.count + peer
  }

  #offerArrived(peer: number, key: number, header: Int32Array, location: Uint8Array): void {
    const process = this.#state.processes.processes.at(peer)
    this.#credit.waits(process, waitCharge.offer)
    this.#partial ??= new PartialMessages()
    const message = this.#partial.offer(key, process, header, location, this.#pieceBytes)
    if (message === undefined) return
    this.#trace?.arrive(header, peer)
    const waiting = takeFirstLinked(this.#waiting, key)
    if (waiting === undefined) append(this.#arrived, key, message)
    else this.#attempt(() => this.#fetch(peer, message, waiting))
  }

  #deliver(peer: number, key: number, bytes: Uint8Array, owned: boolean): void {
    this.#state.runtime.processCounters.bytesCopied += bytes.length
    const waiting = takeFirstLinked(this.#waiting, key)
    if (waiting === undefined) {
      append(this.#arrived, key, owned ? bytes : copyOf(bytes))
      return
    }
    this.#consumed(peer, bytes.length)
    const { take, room, reject } = waiting
    if (reject === undefined && this.#spares.length < mostSpares) this.#spare(waiting)
    try {
      hand(take, room, bytes, owned)
    } catch (error) {
      this.#owner.failed(this, error)
    }
  }

  #fetch(peer: number, message: OfferedMessage, waiting: AwaitedReceive): void {
    const { transfers } = this.#state
    this.#noLongerWaits(message)
    if (message.location !== undefined) {
      this.#inPlace ??= new MessagesInPlace(this.#state)
      this.#inPlace.read(message, waiting)
      return
    }
    const { take, room } = waiting
    const into = room === undefined ? new Uint8Array(message.sizeBytes) : room(message.sizeBytes)
    if (into === null || message.sizeBytes === 0) {
      message.decline(transfers)
      take(into ?? noBytes, true)
      return
    }
    this.#fetching.set(waiting, { peer, message })
    message.fetch(transfers, into, (error) => {
      this.#fetching.delete(waiting)
      if (this.#failed !== undefined) this.#checkReleased()
      else if (error === undefined) this.#attempt(() => take(into, true))
      else {
        waiting.reject?.(error)
        this.#transferFailed(error)
      }
    })
  }

  /**
   * Runs a part of the algorithm outside of any call of it: if it throws, the collective fails.
   *
   * @throws ERR_PROTOCOL when it takes in a frame, since that is the fault of the peer alone
   */
  #attempt(part: () => void, isFrame = false): void {
    try {
      part()
    } catch (error) {
      if (isFrame && isRankweaveError(error, 'ERR_PROTOCOL')) throw error
      this.#owner.failed(this, error)
    }
  }

  /**
   * Fails the collective unless its reason follows. A process that is lost, or has withdrawn its message, is followed
   * by the reason, the same error everywhere.
   */
  #transferFailed(error: RankweaveError): void {
    const isExplained = error.code === 'ERR_PEER_LOST' || error.code === 'ERR_REVOKED'
    if (this.#failed !== undefined || isExplained) return
    this.#owner.failed(this, error)
  }

  #noLongerWaits({ process, pieces }: OfferedMessage): void {
    this.#credit.waits(process, -pieces * waitCharge.offer)
  }

  /** Returns credit for a message; messages of this process to itself have not been charged. */
  #consumed(peer: number, sizeBytes: number): void {
    if (peer !== this.me) this.#credit.consumed(this.#state.processes.processes.at(peer), sizeBytes)
  }

  #dropMessage(key: number, message: Uint8Array | OfferedMessage | PartialMessage): void {
    const { runtime, transfers } = this.#state
    if (runtime.ended !== undefined) return
    if (message instanceof OfferedMessage) {
      this.#noLongerWaits(message)
      message.decline(transfers)
    } else this.#consumed(key % this.count, 'totalBytes' in message ? message.totalBytes : message.byteLength)
  }
}

/**
 * Returns the charge of a message that is dropped instead of received, when its first frame arrives. It does so once
 * per message, however many frames it has. An offer is declined.
 */
export function returnCharge(port: ProcessPort, src: number, header: Int32Array): void {
  const { credit } = port
  if (header[headerWord.kind] === frameKind.collectiveOffer) {
    // The sender of an offer may hold a staged copy for this process.
    const answer = new Int32Array(transferWords)
    answer.set(header.subarray(0, transferWord.transferId))
    answer[headerWord.kind] = frameKind.clearToSend
    answer[transferWord.transferId] = header[collectiveWord.offset]
    answer[transferWord.argument] = transferMode.discard
    port.send(src, answer)
    return
  }
  if (header[headerWord.kind] === frameKind.collective && offsetOf(header) === 0)
    credit.consumed(src, totalOf(header))
}

/**
 * Records the messages that this process receives in collectives of one communicator, as an MPI library would match
 * them. It records them at the lowest rank here, from the lowest rank of the sender, tagged by the step of the
 * algorithm. Calls that make communicators, plans and the like are left out.
 */
class CollectiveTrace {
  readonly #watch: MatchingWatch
  /** The lowest rank of every process. */
  readonly #firstRank: Int32Array

  /** Undefined if the world does not record them, or if it is not known which ranks a process hosts. */
  static of(state: CommContext): CollectiveTrace | undefined {
    const traces = state.runtime.matchingTraces
    if (traces?.hasCollectives !== true || !state.isPlaced) return undefined
    return new CollectiveTrace(traces.watch(contextKey(state.id), state.size, state.worldRank(0)), state)
  }

  private constructor(watch: MatchingWatch, { processes }: CommContext) {
    const { runStart, runProcess, count } = processes
    this.#watch = watch
    this.#firstRank = new Int32Array(count)
    for (let run = runProcess.length - 1; run >= 0; run--) this.#firstRank[runProcess[run]] = runStart[run]
  }

  /** A receive starts. @param header of the collective's own frames, with its signature */
  post(header: Int32Array, peer: number, step: number): void {
    const of = recordedCall(header)
    if (of !== undefined) this.#watch.postInCall(this.#firstRank[peer], step, of)
  }

  /** A message arrives, perhaps before any rank here has made the call. @param header of its first frame */
  arrive(header: Int32Array, peer: number): void {
    const of = recordedCall(header)
    if (of === undefined) return
    this.#watch.arrive(this.#firstRank[peer], header[collectiveWord.step], totalOf(header), of)
  }
}

/** Reads which call a frame is part of. Numbers of calls differ between lanes. */
function recordedCall(header: Int32Array) {
  const lane = header[collectiveWord.lane]
  const name: string = nameInWords(header, collectiveWord.signature) ?? ''
  // The starts of a persistent collective have a lane of their own, and the name of its init.
  const plain = (lane === 0 ? name : name.replace(/Init$/, '')).replace(/[vw]$/, '')
  const kebab = plain.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const collective = collectives.find((one) => one === kebab)
  const call = (65_537 * lane + header[collectiveWord.seq]) >>> 0
  return collective === undefined ? undefined : { collective, call }
}
