import { copyBytes } from '../../base/copy-bytes.js'
import { RankweaveError } from '../../errors.js'
import type { BulkTransfer } from '../fabric.js'

/** Kinds of records in a ring; all but `frame` stay inside the fabric. */
export const recordKind = { frame: 0, bulkReady: 1, bulkData: 2, bulkRefused: 3, forget: 4 } as const

/** What bulk transfers need of their process. */
export interface BulkHost {
  readonly process: number
  readonly maxPayloadBytes: number
  /** Sends a record without payload, now or as soon as there is space. */
  post(peer: number, kind: number, header: Int32Array): void
  /** Writes a piece straight into the ring; false when there is no space now. */
  write(
    peer: number,
    kind: number,
    header: Int32Array,
    payload: Uint8Array,
    from: number,
    to: number,
  ): boolean
  /** Schedules a turn that copies pieces, outside the current call. */
  schedule(): void
  lost(peer: number): RankweaveError | undefined
  /** A transfer has settled: a rank may be waiting for its promise. */
  settled(): void
}

interface Transfer {
  readonly peer: number
  readonly transferId: number
  readonly header: Int32Array
  readonly buffer: Uint8Array
  movedBytes: number
  readonly resolve: () => void
  readonly reject: (error: RankweaveError) => void
}

/**
 * Large payloads: the receiver reports that it is ready, and from then on the sender copies from the user's buffer into the
 * ring while the receiver copies from there into its own, piece by piece. No intermediate copy is made, however full the
 * ring: the user's buffer is the queue.
 */
export class ThreadsBulk implements BulkTransfer {
  readonly #host: BulkHost
  readonly #outgoing = new Map<number, Transfer>()
  readonly #incoming = new Map<number, Transfer>()
  /** Receivers that were ready before their senders, with the bytes they expect. */
  readonly #ready = new Map<number, number>()
  /** Transfers in progress to each peer, served in order. */
  readonly #moving: Transfer[][]
  #movingCount = 0

  constructor(host: BulkHost, processes: number) {
    this.#host = host
    this.#moving = Array.from({ length: processes }, () => [])
  }

  /** Whether anything is left to copy into a ring. */
  get moving(): boolean {
    return this.#movingCount > 0
  }

  get idle(): boolean {
    return this.#outgoing.size + this.#incoming.size + this.#ready.size === 0
  }

  isMovingTo(peer: number): boolean {
    return this.#moving[peer]!.length > 0
  }

  send(peer: number, transferId: number, buffer: Uint8Array): Promise<void> {
    return this.#enter(this.#outgoing, 'sender', peer, transferId, buffer, (transfer) => {
      const key = keyOf(peer, transferId)
      const expected = this.#ready.get(key)
      if (expected === undefined) return
      this.#ready.delete(key)
      this.#begin(transfer, expected)
    })
  }

  receive(peer: number, transferId: number, into: Uint8Array): Promise<void> {
    return this.#enter(this.#incoming, 'receiver', peer, transferId, into, ({ header }) => {
      this.#host.post(peer, recordKind.bulkReady, header)
    })
  }

  /** A record of another kind than `frame`. */
  record(src: number, kind: number, header: Int32Array, payload: Uint8Array): void {
    const transferId = header[0]!
    const key = keyOf(src, transferId)
    const sizeBytes = sizeIn(header)
    if (kind === recordKind.bulkReady) {
      const transfer = this.#outgoing.get(key)
      if (transfer === undefined) this.#ready.set(key, sizeBytes)
      else this.#begin(transfer, sizeBytes)
      return
    }
    const transfer = this.#incoming.get(key)
    if (transfer === undefined) return
    if (kind === recordKind.bulkRefused) {
      this.#incoming.delete(key)
      transfer.reject(this.#unequal(src, transferId, transfer.buffer.byteLength, sizeBytes))
      return
    }
    copyBytes(transfer.buffer, transfer.movedBytes, payload)
    transfer.movedBytes += payload.byteLength
    if (transfer.movedBytes < transfer.buffer.byteLength) return
    this.#incoming.delete(key)
    this.#host.settled()
    transfer.resolve()
  }

  /** Copies towards one peer as far as its ring has space. */
  pump(peer: number): void {
    const moving = this.#moving[peer]!
    const { maxPayloadBytes } = this.#host
    let done = 0
    for (const transfer of moving) {
      const { buffer, header } = transfer
      const size = buffer.byteLength
      do {
        const from = transfer.movedBytes
        const to = Math.min(size, from + maxPayloadBytes)
        if (!this.#host.write(peer, recordKind.bulkData, header, buffer, from, to)) {
          this.#settle(moving, done)
          return
        }
        transfer.movedBytes = to
      } while (transfer.movedBytes < size)
      done++
    }
    this.#settle(moving, done)
  }

  /** Fails the transfers with `peer`, or all of them. */
  fail(error: RankweaveError, peer?: number): void {
    for (const transfers of [this.#outgoing, this.#incoming]) {
      for (const [key, transfer] of transfers) {
        if (peer !== undefined && transfer.peer !== peer) continue
        transfers.delete(key)
        transfer.reject(error)
      }
    }
    this.#moving.forEach((moving, p) => {
      if (peer === undefined || p === peer) this.#movingCount -= moving.splice(0).length
    })
    for (const key of [...this.#ready.keys()]) {
      if (peer === undefined || peerOf(key) === peer) this.#ready.delete(key)
    }
  }

  #enter(
    transfers: Map<number, Transfer>,
    role: 'sender' | 'receiver',
    peer: number,
    transferId: number,
    buffer: Uint8Array,
    entered: (transfer: Transfer) => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const lost = this.#host.lost(peer)
      if (lost !== undefined) return reject(lost)
      const key = keyOf(peer, transferId)
      if (transfers.has(key)) {
        return reject(
          new RankweaveError(
            'ERR_FABRIC',
            `transfer ${transferId} between process ${this.#host.process} and ${peer} already has a ${role}`,
          ),
        )
      }
      const size = buffer.byteLength
      const header = Int32Array.of(transferId, size % 2 ** 31, Math.floor(size / 2 ** 31))
      const transfer = { peer, transferId, header, buffer, movedBytes: 0, resolve, reject }
      transfers.set(key, transfer)
      entered(transfer)
    })
  }

  #begin(transfer: Transfer, expectedBytes: number): void {
    const { peer, transferId, header, buffer } = transfer
    if (expectedBytes !== buffer.byteLength) {
      this.#outgoing.delete(keyOf(peer, transferId))
      this.#host.post(peer, recordKind.bulkRefused, header)
      transfer.reject(this.#unequal(peer, transferId, expectedBytes, buffer.byteLength))
      return
    }
    this.#moving[peer]!.push(transfer)
    this.#movingCount++
    this.#host.schedule()
  }

  #settle(moving: Transfer[], done: number): void {
    if (done === 0) return
    this.#movingCount -= done
    for (const transfer of moving.splice(0, done)) {
      this.#outgoing.delete(keyOf(transfer.peer, transfer.transferId))
      this.#host.settled()
      transfer.resolve()
    }
  }

  #unequal(peer: number, transferId: number, expected: number, sent: number): RankweaveError {
    return new RankweaveError(
      'ERR_FABRIC',
      `transfer ${transferId} between process ${this.#host.process} and ${peer}: the receiver expected ${expected} ` +
        `bytes, the sender sends ${sent}`,
    )
  }
}

const keyOf = (peer: number, transferId: number): number => peer * 2 ** 32 + (transferId >>> 0)
const peerOf = (key: number): number => Math.floor(key / 2 ** 32)
const sizeIn = (header: Int32Array): number => header[1]! + header[2]! * 2 ** 31
