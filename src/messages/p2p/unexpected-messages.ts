import { bytesOf, copyBytes } from '../../base/bytes.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { type Arrived, type Content, lostMessageError } from '../mailboxes/arrived.js'
import { freedError, type Receive, type Send } from '../mailboxes/pending-operation.js'
import type { CommContext } from '../process/comm-context.js'
import { type Credit, waitCharge } from '../process/credit.js'
import { cancelReason } from '../process/frames.js'
import { transferKey } from '../process/transfers.js'
import { countReceived, deliverBytes, deliverCopy, deliverHeld } from './delivery.js'
import type { RendezvousProtocol } from './rendezvous-protocol.js'

/**
 * The messages of one communicator that arrived before their receive: moves their data to the receive, wherever they
 * are, or drops them. `Matching` decides which receive gets which message.
 */
export class UnexpectedMessages {
  readonly #state: CommContext
  readonly #credit: Credit
  readonly #rendezvous: RendezvousProtocol
  /** The messages of other processes that can still be taken back, or have not arrived completely. */
  readonly #open = new Map<number, Arrived>()
  #filling = 0
  #whenFilled: (() => void)[] = []
  #closing = false

  constructor(state: CommContext, rendezvous: RendezvousProtocol) {
    this.#state = state
    this.#credit = state.runtime.credit
    this.#rendezvous = rendezvous
  }

  /** The receives that have their message, but not all of its data. */
  get receives(): Receive<unknown>[] {
    const receives: Receive<unknown>[] = []
    for (const { content } of this.#open.values()) {
      if (content.kind === 'filling' && content.receive !== undefined) receives.push(content.receive)
    }
    return receives
  }

  /**
   * Registers a message of process `src` to which later frames refer by this id.
   *
   * @throws ERR_PROTOCOL if they would refer to two messages, and for too many that no receive has matched
   */
  open(src: number, transferId: number, message: Arrived): void {
    const key = transferKey(src, transferId)
    if (this.#open.has(key))
      throw new RankweaveError('ERR_PROTOCOL', `expected one message by the id ${transferId}, got two`)
    if (message.content.kind === 'remote') this.#credit.waits(src, waitCharge.envelope)
    this.#open.set(key, message)
    if (message.content.kind === 'filling') this.#filling++
  }

  find(src: number, transferId: number): Arrived | undefined {
    return this.#open.get(transferKey(src, transferId))
  }

  /**
   * Adds a further frame of an eager message that is longer than one.
   *
   * @throws ERR_PROTOCOL for more than the message has
   */
  fill(message: Arrived, payload: Uint8Array): void {
    const { content } = message
    if (content.kind !== 'filling') return
    const leftBytes = message.sizeBytes - content.filledBytes
    if (payload.byteLength > leftBytes) {
      const expected = `a message of ${message.sizeBytes} bytes: expected at most ${leftBytes} more`
      throw wrongValue('ERR_PROTOCOL', expected, payload.byteLength)
    }
    const { data, process, transferId, acknowledge, receive, landing } = content
    // A receive that was given up is no longer written, and a detached buffer cannot be.
    if (receive?.settled !== true && data.byteLength === message.sizeBytes) {
      copyBytes(bytesOf(data), content.filledBytes, payload)
      this.#state.runtime.processCounters.bytesCopied += payload.byteLength
    }
    content.filledBytes += payload.byteLength
    if (content.filledBytes < message.sizeBytes) return
    if (landing !== undefined) {
      this.#filled()
      this.#open.delete(transferKey(process, transferId))
      landing.landed()
      this.#consumed(message, process)
      if (acknowledge) this.#rendezvous.acknowledge(process, transferId)
      return
    }
    message.content = { kind: 'held', data, scratch: content.scratch, process, transferId, acknowledge }
    this.#filled()
    if (!acknowledge) this.#open.delete(transferKey(process, transferId))
    if (receive !== undefined) this.give(message, receive)
    else if (this.#closing) this.discard(message)
  }

  /** Gives up a receive whose message is partly here: the message is dropped when it is complete. */
  abandon(receive: Receive<unknown>, error: RankweaveError): void {
    if (this.#filling > 0 && this.receives.includes(receive)) receive.reject(error)
  }

  /** Completes a receive with a message that is no longer queued, or starts to fetch its data. */
  give(message: Arrived, receive: Receive<unknown>): void {
    const { content } = message
    switch (content.kind) {
      case 'held':
        // The receive may have been given up while the message arrived.
        if (!receive.settled) this.#deliver(message, content, receive)
        this.#consumed(message, content.process)
        if (content.acknowledge) {
          this.#open.delete(transferKey(content.process, content.transferId))
          this.#rendezvous.acknowledge(content.process, content.transferId)
        }
        break
      case 'filling':
        content.receive = receive
        if (content.landing !== undefined) countReceived(receive, message)
        return
      case 'local':
        this.#giveLocal(message, content.send, receive)
        break
      case 'remote':
        this.#noLongerWaits(content)
        this.#open.delete(transferKey(content.process, content.transferId))
        if (content.bytes !== undefined) {
          if (receive.into === undefined) this.#state.runtime.fresh.take(message.sizeBytes)
          deliverBytes(receive, message, content.bytes)
          this.#rendezvous.acknowledge(content.process, content.transferId)
          break
        }
        countReceived(receive, message)
        this.#rendezvous.accept(content, message, receive)
        break
      case 'gone':
        receive.reject(content.error)
    }
  }

  #deliver(message: Arrived, { data, scratch }: Held, receive: Receive<unknown>): void {
    if (receive.into === undefined) this.#state.runtime.fresh.take(message.sizeBytes)
    // Memory of the right size may as well stay with the receive.
    if (scratch === undefined || (receive.into === undefined && scratch.byteLength === message.sizeBytes)) {
      deliverHeld(receive, message, data)
      return
    }
    deliverCopy(receive, message, data)
    this.#state.runtime.scratch.give(scratch)
  }

  #giveLocal(message: Arrived, send: Send, receive: Receive<unknown>): void {
    if (send.isIntact) {
      if (receive.into === undefined) this.#state.runtime.fresh.take(message.sizeBytes)
      deliverCopy(receive, message, send.payload.data)
      send.fulfill()
    } else {
      receive.reject(lostMessageError(message.source))
      send.reject(send.detachedError())
    }
  }

  /** Drops a message that no receive will get, and notifies its sender. */
  discard(message: Arrived, reason: number = cancelReason.freed): void {
    const { content } = message
    switch (content.kind) {
      case 'held':
        this.#consumed(message, content.process)
        if (content.acknowledge) this.#refuse(content.process, content.transferId, reason)
        break
      case 'filling':
        // The message is discarded when its last frame has arrived.
        return
      case 'local':
        content.send.reject(freedError(content.send))
        break
      case 'remote':
        this.#noLongerWaits(content)
        this.#refuse(content.process, content.transferId, reason)
    }
    message.content = { kind: 'gone', error: freedMessage(message) }
  }

  #refuse(process: number, transferId: number, reason: number): void {
    this.#open.delete(transferKey(process, transferId))
    this.#rendezvous.refuse(process, transferId, reason)
  }

  /** Forgets a message whose data cannot arrive, or no longer matter; its sender finds that out by itself. */
  lose(message: Arrived, error: RankweaveError): void {
    const { content } = message
    if (content.kind === 'gone') return
    message.content = { kind: 'gone', error }
    if (content.kind === 'remote') this.#noLongerWaits(content)
    if (content.kind === 'held' || content.kind === 'filling') this.#consumed(message, content.process)
    if (content.kind !== 'filling') return
    content.receive?.reject(error)
    this.#filled()
  }

  #noLongerWaits({ process }: { readonly process: number }): void {
    this.#credit.waits(process, -waitCharge.envelope)
  }

  #consumed(message: Arrived, process: number): void {
    this.#credit.consumed(process, message.sizeBytes)
  }

  /** Resolves when no message is partly here; such messages are discarded unless a receive has matched them. */
  close(): Promise<void> {
    this.#closing = true
    if (this.#filling === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenFilled.push(resolve)
    })
  }

  /** Loses the messages that are not all here, of process `peer` or, when it is undefined, of all. */
  fail(error: RankweaveError, peer?: number): void {
    for (const [key, message] of [...this.#open]) {
      const { content } = message
      if (content.kind !== 'remote' && content.kind !== 'filling') continue
      if (peer !== undefined && content.process !== peer) continue
      this.#open.delete(key)
      if (message.listed) message.leaveQueue()
      this.lose(message, error)
    }
  }

  #filled(): void {
    if (--this.#filling > 0) return
    for (const resolve of this.#whenFilled.splice(0)) resolve()
  }
}

type Held = Content & { readonly kind: 'held' }

function freedMessage({ source, tag }: Arrived): RankweaveError {
  return new RankweaveError(
    'ERR_COMM_FREED',
    `the communicator of the message of rank ${source} with tag ${tag} was freed before it was received`,
  )
}
