import { RankweaveError, reasonText } from '../../errors.js'
import type { ContextId } from '../process/context-id.js'
import type { Grantee } from '../process/credit.js'
import { cancelStage, frameKind, headerWord, transferMode, transferWord } from '../process/frames.js'
import type { ProcessPort } from '../process/process-port.js'
import { TransferFrames } from './transfer-frames.js'

/** A payload that stays with its sender until its receiver is ready. Its owner has sent, or sends, the envelope. */
export interface Outgoing {
  /** World process of the receiver. */
  readonly process: number
  /**
   * The receiver is ready: the payload, borrowed until `sent` or `failed`; or why it can no longer be sent, which then
   * is the error of `failed`. Called at most once.
   */
  begin(): Uint8Array | RankweaveError
  /** The payload has been sent, or its receiver does not want it. */
  sent(): void
  failed(error: RankweaveError): void
}

/** A payload on its way here. */
export interface Incoming {
  /** Filled entirely; its length is that of the payload. Written until `landed` or `failed`. */
  readonly into: Uint8Array
  landed(): void
  failed(error: RankweaveError): void
  /** The error of a payload that its sender could not send. */
  lost(): RankweaveError
}

interface OutgoingState {
  readonly outgoing: Outgoing
  /** Set once the receiver is ready. */
  bytes: Uint8Array | undefined
  sentBytes: number
}

interface IncomingState extends Grantee {
  readonly transferId: number
  readonly incoming: Incoming
}

/**
 * Transfers of one communicator in one process: payload that follows its envelope only when the receiver is ready for it
 * (rendezvous). The receiver reports that it is ready (`clearToSend`), and the data come by the fabric's bulk transfers,
 * or in frames as far as they are granted (`Credit`). Which envelope announces a payload, and who receives it, is the
 * business of the callers: point-to-point messages and collectives.
 *
 * Memory: an entry per transfer on either side; the payload is never copied here.
 */
export class Transfers {
  readonly #port: ProcessPort
  readonly #frames: TransferFrames
  /** By transfer id. */
  readonly #outgoing = new Map<number, OutgoingState>()
  /** By {@link transferKey}. */
  readonly #incoming = new Map<number, IncomingState>()

  constructor(port: ProcessPort, id: ContextId) {
    this.#port = port
    this.#frames = new TransferFrames(port, id)
  }

  /** Registers a payload; its id goes into the envelope, by which the receiver asks for it. */
  offer(outgoing: Outgoing): number {
    const transferId = this.#port.credit.drawTransferId()
    this.#outgoing.set(transferId, { outgoing, bytes: undefined, sentBytes: 0 })
    return transferId
  }

  /** Ends an offer for another reason than its receiver being ready. No effect on one that has ended. */
  settle(transferId: number, error?: RankweaveError): void {
    const state = this.#outgoing.get(transferId)
    if (state === undefined) return
    this.#outgoing.delete(transferId)
    if (error === undefined) state.outgoing.sent()
    else state.outgoing.failed(error)
  }

  /** The owner of an offer that has not ended. */
  offered(transferId: number): Outgoing | undefined {
    return this.#outgoing.get(transferId)?.outgoing
  }

  /** Fetches an offered payload; an empty one lands at once. */
  fetch(process: number, transferId: number, incoming: Incoming): void {
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
    const { bulk } = this.#port.fabric
    if (bulk === undefined) {
      this.#port.credit.request(state)
      return
    }
    this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.bulk)
    this.#port.progress.watch(bulk.receive(process, transferId, into)).then(
      () => this.#landed(state),
      (cause) => this.#drop(state, asError(cause)),
    )
  }

  /** Reports to the sender of an offered payload that it need not be sent. */
  decline(process: number, transferId: number): void {
    this.#frames.control(process, frameKind.clearToSend, transferId, transferMode.discard)
  }

  /** Whether a frame concerns a payload whose receiver is ready. */
  static concerns(header: Int32Array): boolean {
    const kind = header[headerWord.kind]
    return (
      kind === frameKind.clearToSend ||
      kind === frameKind.data ||
      (kind === frameKind.cancel && header[transferWord.argument] === cancelStage.matched)
    )
  }

  /** A frame that {@link concerns} payload; others are ignored. */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const transferId = header[transferWord.transferId]!
    switch (header[headerWord.kind]) {
      case frameKind.clearToSend:
        this.#clearToSend(transferId, header[transferWord.argument]!, header[transferWord.bytes]! >>> 0)
        return
      case frameKind.data:
        this.#data(src, transferId, payload)
        return
      case frameKind.cancel: {
        const state = this.#incoming.get(transferKey(src, transferId))
        if (state !== undefined) this.#drop(state, state.incoming.lost())
      }
    }
  }

  /** Fails what needs process `peer`, or everything when it is undefined. */
  fail(error: RankweaveError, peer?: number): void {
    for (const [transferId, { outgoing }] of [...this.#outgoing]) {
      if (peer === undefined || outgoing.process === peer) this.settle(transferId, error)
    }
    for (const state of [...this.#incoming.values()]) {
      if (peer === undefined || state.process === peer) this.#drop(state, error)
    }
  }

  #clearToSend(transferId: number, mode: number, grantedBytes: number): void {
    const state = this.#outgoing.get(transferId)
    if (state === undefined) return
    const { process } = state.outgoing
    if (mode === transferMode.discard) {
      this.settle(transferId)
      return
    }
    if (state.bytes === undefined) {
      const begun = state.outgoing.begin()
      if (begun instanceof RankweaveError) {
        this.#frames.control(process, frameKind.cancel, transferId, cancelStage.matched)
        this.settle(transferId, begun)
        return
      }
      state.bytes = begun
    }
    const { bytes } = state
    if (mode === transferMode.bulk) {
      this.#port.progress.watch(this.#port.fabric.bulk!.send(process, transferId, bytes)).then(
        () => this.settle(transferId),
        (cause) => this.settle(transferId, asError(cause)),
      )
      return
    }
    this.#frames.data(process, transferId, bytes, state.sentBytes, grantedBytes)
    state.sentBytes = grantedBytes
    if (grantedBytes === bytes.byteLength) this.settle(transferId)
  }

  #data(src: number, transferId: number, payload: Uint8Array): void {
    const state = this.#incoming.get(transferKey(src, transferId))
    if (state === undefined) return
    state.incoming.into.set(payload, state.receivedBytes)
    this.#port.processCounters.bytesCopied += payload.byteLength
    this.#port.credit.arrived(state, payload.byteLength)
    if (state.receivedBytes === state.sizeBytes) this.#landed(state)
  }

  #landed(state: IncomingState): void {
    if (this.#incoming.delete(transferKey(state.process, state.transferId))) state.incoming.landed()
  }

  #drop(state: IncomingState, error: RankweaveError): void {
    if (!this.#incoming.delete(transferKey(state.process, state.transferId))) return
    if (this.#port.fabric.bulk === undefined) this.#port.credit.abandon(state)
    state.incoming.failed(error)
  }
}

/** Identifies a transfer among those of all processes: the id is unique to its sender. */
export function transferKey(process: number, transferId: number): number {
  return process * 2 ** 31 + transferId
}

function asError(cause: unknown): RankweaveError {
  if (cause instanceof RankweaveError) return cause
  const said = reasonText(cause)
  return new RankweaveError('ERR_FABRIC', `a transfer failed: ${said}`, { cause })
}
