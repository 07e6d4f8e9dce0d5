import { RankweaveError } from '../../errors.js'
import { detachedInTransfer } from '../bulk-pairing.js'
import type { BulkRole } from '../fabric.js'

interface Side {
  readonly buffer: Uint8Array
  readonly sizeBytes: number
  readonly resolve: () => void
  readonly reject: (error: RankweaveError) => void
}

interface Transfer {
  readonly src: number
  readonly dst: number
  readonly transferId: number
  sender?: Side
  receiver?: Side
}

/**
 * Moves large payloads between the processes of a local session: one copy, once both sides have joined. A buffer is
 * accessed during that copy only, so a cancelled side is released at once.
 */
export class LocalBulk {
  /** The transfers that have a side which has not settled. */
  readonly #transfers = new Map<string, Transfer>()
  /** The transfers that both sides have joined; some may have been cancelled since. */
  #ready: Transfer[] = []
  readonly #onReady: () => void
  readonly #lost: (process: number) => RankweaveError | undefined

  /**
   * @param onReady called when there is something to copy; a task of the fabric's own then calls `copy`
   * @param lost why a process can no longer be reached
   */
  constructor(onReady: () => void, lost: (process: number) => RankweaveError | undefined) {
    this.#onReady = onReady
    this.#lost = lost
  }

  /** The number of transfers that both sides have joined and that are not yet copied. */
  get ready(): number {
    return this.#ready.length
  }

  join(src: number, dst: number, transferId: number, role: BulkRole, buffer: Uint8Array) {
    return new Promise<void>((resolve, reject) => {
      const lost = this.#lost(src) ?? this.#lost(dst)
      if (lost !== undefined) return reject(lost)
      const key = keyOf(src, dst, transferId)
      const transfer = this.#transfers.get(key) ?? { src, dst, transferId }
      if (transfer[role] !== undefined) return reject(errorOf(transfer, `already has a ${role}`))
      transfer[role] = { buffer, sizeBytes: buffer.byteLength, resolve, reject }
      this.#transfers.set(key, transfer)
      if (transfer.sender === undefined || transfer.receiver === undefined) return
      this.#ready.push(transfer)
      this.#onReady()
    })
  }

  cancel(src: number, dst: number, transferId: number, role: BulkRole, error: RankweaveError): void {
    const transfer = this.#transfers.get(keyOf(src, dst, transferId))
    if (transfer !== undefined) this.#end(transfer, role, error)
  }

  copy(): void {
    const ready = this.#ready
    this.#ready = []
    for (const transfer of ready) {
      for (const role of roles) {
        const side = transfer[role]
        if (side === undefined || side.buffer.byteLength === side.sizeBytes) continue
        const peer = role === 'sender' ? transfer.dst : transfer.src
        this.#end(transfer, role, detachedInTransfer({ role, peer, transferId: transfer.transferId }))
      }
      const { sender, receiver } = transfer
      if (sender === undefined || receiver === undefined) continue
      if (sender.sizeBytes !== receiver.sizeBytes) {
        const sizes = `expected ${receiver.sizeBytes} bytes, the sender sends ${sender.sizeBytes}`
        for (const role of roles) this.#end(transfer, role, errorOf(transfer, `: the receiver ${sizes}`))
        continue
      }
      this.#transfers.delete(keyOf(transfer.src, transfer.dst, transfer.transferId))
      if (sender.sizeBytes > 0) receiver.buffer.set(sender.buffer)
      sender.resolve()
      receiver.resolve()
    }
  }

  /** Fails every transfer that `process` takes part in, or all of them. */
  fail(error: RankweaveError, process?: number): void {
    for (const transfer of [...this.#transfers.values()]) {
      if (process !== undefined && transfer.src !== process && transfer.dst !== process) continue
      for (const role of roles) this.#end(transfer, role, error)
    }
  }

  /** Ends one side; the other one waits for a new partner. */
  #end(transfer: Transfer, role: BulkRole, error: RankweaveError): void {
    const side = transfer[role]
    if (side === undefined) return
    delete transfer[role]
    this.#ready = this.#ready.filter((each) => each !== transfer)
    if (transfer.sender === undefined && transfer.receiver === undefined)
      this.#transfers.delete(keyOf(transfer.src, transfer.dst, transfer.transferId))
    side.reject(error)
  }
}

const roles = ['sender', 'receiver'] as const

const keyOf = (src: number, dst: number, transferId: number): string => `${src} ${dst} ${transferId}`

function errorOf({ src, dst, transferId }: Transfer, what: string): RankweaveError {
  const transfer = `transfer ${transferId} from process ${src} to ${dst}`
  return new RankweaveError('ERR_FABRIC', `${transfer}${what.startsWith(':') ? '' : ' '}${what}`)
}
