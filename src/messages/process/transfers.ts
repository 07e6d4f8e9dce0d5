import { isRankweaveError, RankweaveError, reasonText, wrongValue } from '../../errors.js'
import { detachedError } from '../datatype/elements.js'
import type { Grantee } from './credit.js'
import type { FramePort } from './frame-port.js'
import {
  type ContextId,
  cancelStage,
  type FrameKind,
  frameKind,
  headerWord,
  transferMode,
  transferWord,
  transferWords,
} from './frames.js'
import type { ProcessPort } from './process-port.js'
import type { StagedCopy } from './staging.js'

/**
 * The transfers of one communicator in one process: payload that follows its envelope only when the receiver is ready
 * for it (rendezvous). The receiver reports that it is ready (`clearToSend`). The data come by the fabric's bulk
 * transfers, or in frames as far as they are granted (`Credit`). The callers, point-to-point messages and collectives,
 * decide which envelope announces a payload, and who receives it.
 *
 * A side that ends early, for whatever reason, reports `failed` or `sent` only when the fabric no longer accesses its
 * buffer (`BulkTransfer.cancel`). That is at once, but on MPI after the pieces in flight. When one side alone ends, it
 * notifies the other, which ends too: a receiver that gives up declines the payload, a sender sends `cancel`.
 *
 * Memory: an entry per transfer on either side; the payload is never copied here.
 */
export class Transfers {
  readonly #port: ProcessPort
  readonly #frames: TransferFrames
  /** The senders by transfer id. */
  readonly #outgoing = new Map<number, OutgoingState>()
  /** The receivers by {@link transferKey}. */
  readonly #incoming = new Map<number, IncomingState>()
  /** The failed offers, by transfer id: their receivers may still read the staged copy. */
  readonly #lingering = new Map<number, Outgoing>()

  #failed = false

  constructor(port: ProcessPort, id: ContextId) {
    this.#port = port
    this.#frames = new TransferFrames(port, id)
  }

  /** True if nothing is offered or in flight. */
  get isIdle(): boolean {
    return this.#outgoing.size + this.#incoming.size + this.#lingering.size === 0
  }

  /** Registers a payload; its id goes into the envelope, by which the receiver requests it. */
  offer(outgoing: Outgoing): number {
    const transferId = this.#port.credit.openTransferId()
    this.#outgoing.set(transferId, {
      outgoing,
      bytes: undefined,
      sizeBytes: 0,
      sentBytes: 0,
      moves: false,
      outcome: undefined,
    })
    return transferId
  }

  /**
   * Ends an offer for another reason than its receiver being ready. With an error, a receiver that waits for the rest,
   * or requests it later, loses the payload. It has no effect on an offer that has ended.
   */
  settle(transferId: number, error?: RankweaveError): void {
    const state = this.#outgoing.get(transferId)
    if (state === undefined || state.outcome !== undefined) return
    if (error !== undefined && state.bytes !== undefined) this.#withdraw(state.outgoing.process, transferId)
    this.#endOutgoing(transferId, state, error ?? 'done')
  }

  offered(transferId: number): Outgoing | undefined {
    return this.#outgoing.get(transferId)?.outgoing
  }

  /**
   * Fetches an offered payload; an empty one lands at once.
   *
   * @param isCopied it is in its place already, copied from where the sender has it
   */
  fetch(process: number, transferId: number, incoming: Incoming, isCopied = false): void {
    const { into } = incoming
    if (into.byteLength === 0) {
      this.decline(process, transferId)
      incoming.landed()
      return
    }
    const state: IncomingState = {
      process,
      transferId,
      sizeBytes: into.byteLength,
      grantedBytes: 0,
      receivedBytes: 0,
      incoming,
      moves: false,
      isCopied,
      error: undefined,
      announce: () =>
        this.#frames.control(
          process,
          frameKind.clearToSend,
          transferId,
          transferMode.frames,
          state.grantedBytes,
        ),
    }
    this.#incoming.set(transferKey(process, transferId), state)
    if (isCopied) {
      this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.copied)
      return
    }
    const { bulk } = this.#port.fabric
    if (bulk === undefined) {
      this.#port.credit.request(state)
      return
    }
    state.moves = true
    // The receive is posted before the frame is sent, because a fabric can then send both together.
    const moved = this.#port.progress.watch(bulk.receive(process, transferId, into))
    this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.bulk)
    moved.then(
      () => this.#landed(state),
      (cause) => {
        // The payload is of no use here: the buffer was detached.
        if (state.error === undefined && isDetachedHere(cause)) this.decline(process, transferId)
        this.#drop(state, transferError(cause))
      },
    )
  }

  /**
   * Gives up a payload that is in flight to this process. `failed` is called with `error` when its buffer is no longer
   * written, and its sender need not send the rest. It has no effect on one that has landed or failed.
   */
  abandon(process: number, transferId: number, error: RankweaveError): void {
    const state = this.#incoming.get(transferKey(process, transferId))
    if (state === undefined || state.error !== undefined) return
    this.decline(process, transferId)
    this.#endIncoming(state, error)
  }

  /** Reports to the sender of an offered payload that it need not be sent, or not to its end. */
  decline(process: number, transferId: number): void {
    this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.discard)
  }

  /** Tells whether a frame concerns a payload whose receiver is ready. */
  static concerns(header: Int32Array): boolean {
    const kind = header[headerWord.kind]
    return (
      kind === frameKind.clearToSend ||
      kind === frameKind.data ||
      (kind === frameKind.cancel && header[transferWord.argument] === cancelStage.matched)
    )
  }

  /**
   * Takes in a frame that {@link concerns} payload; others are ignored.
   *
   * @throws ERR_PROTOCOL for a frame that the other side of a transfer does not send
   */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const transferId = header[transferWord.transferId]
    switch (header[headerWord.kind]) {
      case frameKind.clearToSend:
        this.#clearToSend(src, transferId, header[transferWord.argument], header[transferWord.bytes] >>> 0)
        return
      case frameKind.data:
        this.#data(src, transferId, payload)
        return
      case frameKind.cancel: {
        const state = this.#incoming.get(transferKey(src, transferId))
        if (state !== undefined) this.#endIncoming(state, state.incoming.lost())
      }
    }
  }

  /** Fails the transfers that need process `peer`, or all when it is undefined. */
  fail(error: RankweaveError, peer?: number): void {
    if (peer === undefined) this.#failed = true
    for (const [transferId, state] of [...this.#outgoing]) {
      if (peer === undefined || state.outgoing.process === peer) this.#endOutgoing(transferId, state, error)
    }
    for (const state of [...this.#incoming.values()]) {
      if (peer === undefined || state.process === peer) this.#endIncoming(state, error)
    }
    for (const [transferId, { process }] of [...this.#lingering]) {
      if (process === peer) this.#endLingering(transferId)
    }
  }

  /** Ends a failed offer whose receiver has declined it, or is lost. */
  #endLingering(transferId: number): void {
    const lingering = this.#lingering.get(transferId)
    if (this.#lingering.delete(transferId)) this.#port.credit.closeTransferId(transferId)
    lingering?.copy?.release()
  }

  #clearToSend(src: number, transferId: number, mode: number, grantedBytes: number): void {
    const state = this.#outgoing.get(transferId)
    if (state === undefined) {
      if (mode === transferMode.discard) {
        requireSide(this.#lingering.get(transferId)?.process ?? src, src, transferId)
        this.#endLingering(transferId)
      }
      // If the communicator has failed, the receiver learns that by itself.
      if (!this.#failed && mode !== transferMode.discard) this.#withdraw(src, transferId)
      return
    }
    const { process } = state.outgoing
    requireSide(process, src, transferId)
    if (mode === transferMode.discard) {
      this.settle(transferId)
      return
    }
    if (state.bytes === undefined) {
      const begun = state.outgoing.begin()
      if (begun instanceof RankweaveError) {
        this.#withdraw(process, transferId)
        this.settle(transferId, begun)
        return
      }
      state.bytes = begun
      state.sizeBytes = begun.byteLength
    } else if (state.moves) {
      throw new RankweaveError('ERR_PROTOCOL', `expected one request for transfer ${transferId}, got two`)
    }
    const { bytes } = state
    if (mode === transferMode.copied) {
      this.#frames.control(process, frameKind.data, transferId)
      this.settle(transferId)
      return
    }
    if (mode === transferMode.bulk) {
      state.moves = true
      this.#port.progress.watch(this.#port.fabric.bulk!.send(process, transferId, bytes)).then(
        () => this.#sent(transferId, state, 'done'),
        (cause) => {
          // The receiver waits for data that will not come: the payload was detached.
          if (state.outcome === undefined && isDetachedHere(cause)) this.#withdraw(process, transferId)
          this.#sent(transferId, state, transferError(cause))
        },
      )
      return
    }
    const { sentBytes, sizeBytes } = state
    if (grantedBytes < sentBytes || grantedBytes > sizeBytes) {
      const expected = `transfer ${transferId}: expected a grant of ${sentBytes} to ${sizeBytes} bytes`
      throw wrongValue('ERR_PROTOCOL', expected, grantedBytes)
    }
    if (bytes.byteLength < grantedBytes) {
      this.settle(transferId, detachedError())
      return
    }
    this.#frames.data(process, transferId, bytes, sentBytes, grantedBytes)
    state.sentBytes = grantedBytes
    if (grantedBytes === bytes.byteLength) this.settle(transferId)
  }

  #data(src: number, transferId: number, payload: Uint8Array): void {
    const state = this.#incoming.get(transferKey(src, transferId))
    if (state === undefined) return
    if (state.isCopied) {
      this.#landed(state)
      return
    }
    const leftBytes = state.grantedBytes - state.receivedBytes
    if (payload.byteLength > leftBytes) {
      const expected = `transfer ${transferId}: expected at most ${leftBytes} bytes more`
      throw wrongValue('ERR_PROTOCOL', expected, payload.byteLength)
    }
    if (state.incoming.into.byteLength !== state.sizeBytes) {
      this.abandon(src, transferId, detachedError())
      return
    }
    state.incoming.into.set(payload, state.receivedBytes)
    this.#port.processCounters.bytesCopied += payload.byteLength
    this.#port.credit.arrived(state, payload.byteLength)
    if (state.receivedBytes === state.sizeBytes) this.#landed(state)
  }

  /** Reports to a receiver that is ready that its payload will not come. */
  #withdraw(process: number, transferId: number): void {
    this.#frames.control(process, frameKind.cancel, transferId, cancelStage.matched)
  }

  /** Ends a sender: at once unless the fabric reads its payload. */
  #endOutgoing(transferId: number, state: OutgoingState, outcome: TransferOutcome): void {
    if (!state.moves) {
      this.#sent(transferId, state, outcome)
      return
    }
    if (state.outcome !== undefined) return
    state.outcome = outcome
    this.#port.fabric.bulk!.cancel('sender', state.outgoing.process, transferId, cancelled)
  }

  #sent(transferId: number, state: OutgoingState, moved: TransferOutcome): void {
    if (!this.#outgoing.delete(transferId)) return
    const outcome = state.outcome ?? moved
    const { outgoing } = state
    if (outcome === 'done') {
      this.#port.credit.closeTransferId(transferId)
      outgoing.copy?.release()
      outgoing.sent()
    } else {
      if (outgoing.copy !== undefined) this.#lingering.set(transferId, outgoing)
      else this.#port.credit.closeTransferId(transferId)
      outgoing.failed(outcome)
    }
  }

  /** Ends a receiver: at once unless the fabric writes its buffer. */
  #endIncoming(state: IncomingState, error: RankweaveError): void {
    if (!state.moves) {
      this.#drop(state, error)
      return
    }
    if (state.error !== undefined) return
    state.error = error
    this.#port.fabric.bulk!.cancel('receiver', state.process, state.transferId, cancelled)
  }

  #landed(state: IncomingState): void {
    if (state.error !== undefined) this.#drop(state, state.error)
    else if (this.#incoming.delete(transferKey(state.process, state.transferId))) {
      state.incoming.landed()
    }
  }

  #drop(state: IncomingState, error: RankweaveError): void {
    if (!this.#incoming.delete(transferKey(state.process, state.transferId))) return
    if (!state.moves && !state.isCopied) this.#port.credit.abandon(state)
    state.incoming.failed(state.error ?? error)
  }
}

/** The error that the fabric reports for a side that was cancelled; its owner gets its own reason. */
const cancelled = new RankweaveError('ERR_ABORTED', 'the transfer was cancelled')

/** @throws ERR_PROTOCOL unless a frame comes from the receiver of a transfer */
function requireSide(receiver: number, src: number, transferId: number): void {
  if (receiver === src) return
  throw wrongValue('ERR_PROTOCOL', `transfer ${transferId}: expected an answer of process ${receiver}`, src)
}

/** Identifies a transfer among those of all processes: the id is unique to its sender. */
export function transferKey(process: number, transferId: number): number {
  return process * 2 ** 31 + transferId
}

/** Writes and sends the frames of one communicator that refer to a transfer; the header is made once. */
export class TransferFrames {
  readonly #port: FramePort
  readonly #header = new Int32Array(transferWords)

  constructor(port: FramePort, id: ContextId) {
    this.#port = port
    this.#header[headerWord.leader] = id.leader
    this.#header[headerWord.counter] = id.counter
  }

  /** Sends bytes `from` to `to - 1` of a payload, in as many frames as they need. */
  data(process: number, transferId: number, bytes: Uint8Array, from: number, to: number): void {
    const { maxPayloadBytes } = this.#port.fabric
    const header = this.#header
    header[headerWord.kind] = frameKind.data
    header[transferWord.transferId] = transferId
    for (let at = from; at < to; at += maxPayloadBytes) {
      this.#port.send(process, header, bytes.subarray(at, Math.min(at + maxPayloadBytes, to)))
    }
  }

  control(process: number, kind: FrameKind, transferId: number, argument = 0, bytes = 0): void {
    const header = this.#header
    header[headerWord.kind] = kind
    header[transferWord.transferId] = transferId
    header[transferWord.argument] = argument
    header[transferWord.bytes] = bytes
    this.#port.send(process, header)
  }
}

/** A payload that stays with its sender until its receiver is ready. Its owner has sent, or sends, the envelope. */
export interface Outgoing {
  readonly process: number
  /** A copy that the receiver may read at any time, until it declines the payload. The transfers release it. */
  readonly copy?: StagedCopy | undefined
  /**
   * Returns the payload when the receiver is ready, borrowed until `sent` or `failed`; or the reason why it can no
   * longer be sent, which then is the error of `failed`. Called at most once. A payload that is detached meanwhile
   * fails with an error that `isDetached`, if the fabric notices.
   */
  begin(): Uint8Array | RankweaveError
  /** Notes that the payload has been sent, or its receiver does not want it. */
  sent(): void
  failed(error: RankweaveError): void
}

export interface Incoming {
  /** The memory, filled entirely; its length is that of the payload. Written until `landed` or `failed`. */
  readonly into: Uint8Array
  landed(): void
  failed(error: RankweaveError): void
  /** Returns the error of a payload that its sender could not send. */
  lost(): RankweaveError
}

type TransferOutcome = 'done' | RankweaveError

interface OutgoingState {
  readonly outgoing: Outgoing
  /** Set once the receiver is ready. */
  bytes: Uint8Array | undefined
  /** The bytes of the payload, once the receiver is ready, since a detached buffer has no length. */
  sizeBytes: number
  sentBytes: number
  moves: boolean
  /** Set when the side is to end before all has been moved; it ends when the fabric has released the payload. */
  outcome: TransferOutcome | undefined
}

interface IncomingState extends Grantee {
  readonly transferId: number
  readonly incoming: Incoming
  moves: boolean
  /** Whether the payload is here, and its sender has yet to report that it was intact. */
  readonly isCopied: boolean
  /** The reason the side is to end before all has come; it fails when the fabric has released the buffer. */
  error: RankweaveError | undefined
}

/** Tells whether a transfer failed because the buffer of this side was detached, which the peer does not know. */
export function isDetachedHere(cause: unknown): boolean {
  return isRankweaveError(cause, 'ERR_FABRIC') && cause.details['detached'] === true
}

export function transferError(cause: unknown): RankweaveError {
  if (isRankweaveError(cause)) return cause
  return new RankweaveError('ERR_FABRIC', `a transfer failed: ${reasonText(cause)}`, { cause })
}
