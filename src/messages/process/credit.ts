import { RankweaveError } from '../../errors.js'
import type { FramePort } from './frame-port.js'
import { creditWord, creditWords, frameKind, headerWord } from './frames.js'

/** A transfer that may send only as far as it has been granted. */
export interface Grantee {
  readonly process: number
  readonly sizeBytes: number
  grantedBytes: number
  receivedBytes: number
  /** Sends the sender its new limit, `grantedBytes`. */
  announce(): void
}

/**
 * The bytes that every message is charged besides its payload. It occupies memory while it waits for its receive, even
 * when it is empty.
 */
export const envelopeChargeBytes = 64
/**
 * The charge where other programs may send messages (`Fabric.isTrusted`): the most that one occupies. On Node 20, 420 bytes
 * were measured, 525 if each has another tag, and 607 if three have the same one. That is the heap with buffers after
 * garbage collection per message, less its payload, of 100,000 to 200,000 messages.
 */
export const untrustedEnvelopeChargeBytes = 640

/**
 * The limit of the memory that frames of one process occupy here without credit, besides `creditBytes`. They are frames
 * for communicators not opened here, collectives that no rank here has called, and offers and envelopes that no call
 * has taken. The limit applies only where other programs may send frames.
 */
export const waitingBytes = 2 ** 26

/** The charge for each of these, measured with its objects on Node 20 and rounded up. */
export const waitCharge = {
  /** A frame that waits for its communicator, besides its bytes. */
  frame: 640,
  /** A collective that a frame has opened, and its lane. */
  collective: 3584,
  /** A piece of a message that is offered to a collective. */
  offer: 384,
  /** The envelope of a message that stays with its sender. */
  envelope: 320,
  /** A request for rows of a rank table that is not here, or a report that it is no longer used. */
  lookup: 640,
} as const

class PeerCredit {
  readonly process: number
  /** The charges of messages sent to it and not yet returned. */
  inFlightBytes = 0
  /** The charges of its messages consumed here and not yet returned. */
  owedBytes = 0
  /** The charges of its messages that have arrived here and were not returned. */
  heldBytes = 0
  /** The charges of its other frames that wait here ({@link waitCharge}). */
  waitingBytes = 0
  /** The rendezvous bytes granted to it and not yet arrived. */
  grantedBytes = 0
  /** The transfers of it that have been matched and not been granted completely. */
  readonly waiting: Grantee[] = []

  constructor(process: number) {
    this.process = process
  }
}

/**
 * Flow control of messages between this process and every other, over all communicators (decision 10). Envelopes of
 * rendezvous messages and control frames are never delayed.
 *
 * - **Eager messages** in flight to a process, sent and not yet consumed by a receive, stay within `creditBytes`; each
 *   is charged its payload and its envelope. Beyond that, sends become rendezvous. The receiver returns credit in
 *   batches. This process itself counts like any other. The receiver counts, too: the charges that have arrived and
 *   were not returned are at most those that the sender has in flight. A process that exceeds the limit violates the
 *   protocol.
 * - **Rendezvous payload** is granted by the receiver. The bytes that a process may send to this one and has not sent
 *   yet stay within `creditBytes` too. Transfers are served in order, so every one completes.
 *
 * A process thus holds bounded memory for messages that no receive has matched. It is at most `creditBytes` for each
 * process that sends to it, and an envelope for each pending send of the program. Where other programs
 * may send frames, the rest is bounded, too ({@link waitingBytes}).
 */
export class Credit {
  readonly #runtime: FramePort
  readonly #limitBytes: number
  /** The charge of a message besides its payload. */
  readonly #envelopeBytes: number
  /**
   * True if other programs may send frames. Elsewhere all processes run one program, and may start as much as MPI
   * permits.
   */
  readonly #isBounded: boolean
  /** The peers by process, each made at the first message to it or from it. */
  readonly #peers = new Map<number, PeerCredit>()
  /** The peer of the last message, which the next one is to or from most often. */
  #last: PeerCredit | undefined
  readonly #header = new Int32Array(creditWords)
  #lastTransferId: number
  /** The ids of payloads that are offered. A long-lived one keeps its id when the numbers begin anew. */
  readonly #openTransferIds = new Set<number>()

  /** @param lastTransferId that was drawn before */
  constructor(runtime: FramePort, lastTransferId = 0) {
    this.#runtime = runtime
    this.#lastTransferId = lastTransferId
    this.#limitBytes = Math.min(runtime.options.creditBytes, 2 ** 31)
    this.#isBounded = !runtime.fabric.isTrusted
    this.#envelopeBytes = this.#isBounded ? untrustedEnvelopeChargeBytes : envelopeChargeBytes
    runtime.onService(frameKind.credit, (src, header) => {
      const peer = this.#peer(src)
      const returnedBytes = header[creditWord.bytes] >>> 0
      if (returnedBytes > peer.inFlightBytes) {
        const fault = 'returns more credit than it was sent'
        throw excess(src, fault, 'in flight', peer.inFlightBytes, returnedBytes)
      }
      peer.inFlightBytes -= returnedBytes
    })
  }

  /** Returns an id that no other transfer of this process in flight has. */
  drawTransferId(): number {
    do {
      this.#lastTransferId = this.#lastTransferId === 0x7fffffff ? 1 : this.#lastTransferId + 1
    } while (this.#openTransferIds.has(this.#lastTransferId))
    return this.#lastTransferId
  }

  /** Returns the id of a transfer that stays in flight until {@link closeTransferId}. */
  openTransferId(): number {
    const transferId = this.drawTransferId()
    this.#openTransferIds.add(transferId)
    return transferId
  }

  closeTransferId(transferId: number): void {
    this.#openTransferIds.delete(transferId)
  }

  /**
   * Takes credit for a message to `process`; returns false, with nothing done, when there is not enough.
   *
   * @param sizeBytes of its payload; the charge for its envelope is added here, and in `consumed`
   * @param limitBytes the most that may be in flight with it
   */
  take(process: number, sizeBytes: number, limitBytes = this.#limitBytes): boolean {
    const peer = this.#peer(process)
    const inFlightBytes = peer.inFlightBytes + sizeBytes + this.#envelopeBytes
    if (inFlightBytes > limitBytes) return false
    peer.inFlightBytes = inFlightBytes
    return true
  }

  /** Takes credit for a message that could wait for its receive: half of the credit is left to those that cannot. */
  takeSpare(process: number, sizeBytes: number): boolean {
    return this.take(process, sizeBytes, this.#limitBytes / 2)
  }

  /**
   * Counts a message of another process that has begun to arrive, and for which that process has taken credit. Frames
   * are counted before anything is stored of them.
   *
   * @throws ERR_PROTOCOL when it has exceeded its credit
   */
  received(process: number, sizeBytes: number): void {
    const peer = this.#peer(process)
    peer.heldBytes += sizeBytes + this.#envelopeBytes
    if (peer.heldBytes > this.#limitBytes) {
      throw excess(process, 'exceeds its credit', 'in flight', this.#limitBytes, peer.heldBytes)
    }
  }

  /**
   * Adds to the bytes that wait here of `process` without credit, or subtracts from them.
   *
   * @throws ERR_PROTOCOL where other programs may send frames, for more than `creditBytes` and {@link waitingBytes}
   */
  waits(process: number, sizeBytes: number): void {
    const peer = this.#peer(process)
    const limitBytes = this.#limitBytes + waitingBytes
    peer.waitingBytes += sizeBytes
    if (this.#isBounded && sizeBytes > 0 && peer.waitingBytes > limitBytes) {
      const fault = 'sends what no rank here has called for'
      throw excess(process, fault, 'that wait', limitBytes, peer.waitingBytes)
    }
  }

  /**
   * Notes that a message of `process`, for which it has taken credit, no longer occupies memory here. Called once per
   * message.
   */
  consumed(process: number, sizeBytes: number): void {
    const peer = this.#peer(process)
    if (process === this.#runtime.process) {
      peer.inFlightBytes -= sizeBytes + this.#envelopeBytes
      return
    }
    peer.owedBytes += sizeBytes + this.#envelopeBytes
    // A quarter is returned at a time: the sender always has at least three quarters to use, and credit frames stay
    // rare.
    if (peer.owedBytes * 4 < this.#limitBytes) return
    this.#header[headerWord.kind] = frameKind.credit
    this.#header[creditWord.bytes] = peer.owedBytes
    peer.heldBytes -= peer.owedBytes
    peer.owedBytes = 0
    this.#runtime.send(process, this.#header)
  }

  /** Queues a transfer that has been matched; it is announced at least once. */
  request(transfer: Grantee): void {
    const peer = this.#peer(transfer.process)
    peer.waiting.push(transfer)
    this.#grant(peer)
  }

  arrived(transfer: Grantee, sizeBytes: number): void {
    const peer = this.#peer(transfer.process)
    transfer.receivedBytes += sizeBytes
    peer.grantedBytes -= sizeBytes
    this.#grant(peer)
  }

  abandon(transfer: Grantee): void {
    const peer = this.#peer(transfer.process)
    const at = peer.waiting.indexOf(transfer)
    if (at >= 0) peer.waiting.splice(at, 1)
    peer.grantedBytes -= transfer.grantedBytes - transfer.receivedBytes
    this.#grant(peer)
  }

  /** Returns the bytes that count against the limits between this process and `process` now, for tests. */
  outstanding(process: number): Readonly<Omit<PeerCredit, 'process' | 'waiting'>> {
    const { inFlightBytes, owedBytes, heldBytes, waitingBytes, grantedBytes } =
      this.#peers.get(process) ?? new PeerCredit(process)
    return { inFlightBytes, owedBytes, heldBytes, waitingBytes, grantedBytes }
  }

  #peer(process: number): PeerCredit {
    const last = this.#last
    if (last !== undefined && last.process === process) return last
    let peer = this.#peers.get(process)
    if (peer === undefined) {
      peer = new PeerCredit(process)
      this.#peers.set(process, peer)
    }
    this.#last = peer
    return peer
  }

  #grant(peer: PeerCredit): void {
    const { waiting } = peer
    if (waiting.length === 0) return
    const windowBytes = Math.max(this.#limitBytes, this.#runtime.fabric.maxPayloadBytes)
    // Half a window is granted at a time, so that a long transfer is not announced once per frame.
    if (peer.grantedBytes * 2 > windowBytes) return
    let served = 0
    for (const transfer of waiting) {
      const free = windowBytes - peer.grantedBytes
      if (free <= 0) break
      const more = Math.min(free, transfer.sizeBytes - transfer.grantedBytes)
      transfer.grantedBytes += more
      peer.grantedBytes += more
      transfer.announce()
      if (transfer.grantedBytes < transfer.sizeBytes) break
      served++
    }
    waiting.splice(0, served)
  }
}

function excess(process: number, fault: string, where: string, limitBytes: number, gotBytes: number) {
  const text = `process ${process} ${fault}: expected at most ${limitBytes} bytes ${where}, got ${gotBytes}`
  return new RankweaveError('ERR_PROTOCOL', text, { details: { process } })
}
