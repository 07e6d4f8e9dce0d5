import { RankweaveError } from '../../errors.js'

interface Side {
  readonly buffer: Uint8Array
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

/** Large payloads between the processes of a local session: one copy, once both sides have joined. */
export class LocalBulk {
  readonly #transfers = new Map<string, Transfer>()
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

  /** Transfers that both sides have joined, not yet copied. */
  get ready(): number {
    return this.#ready.length
  }

  join(src: number, dst: number, transferId: number, role: 'sender' | 'receiver', buffer: Uint8Array) {
    return new Promise<void>((resolve, reject) => {
      const lost = this.#lost(src) ?? this.#lost(dst)
      if (lost !== undefined) return reject(lost)
      const key = `${src} ${dst} ${transferId}`
      const transfer = this.#transfers.get(key) ?? { src, dst, transferId }
      if (transfer[role] !== undefined) {
        return reject(
          new RankweaveError(
            'ERR_FABRIC',
            `transfer ${transferId} from process ${src} to ${dst} already has a ${role}`,
          ),
        )
      }
      transfer[role] = { buffer, resolve, reject }
      this.#transfers.set(key, transfer)
      if (transfer.sender === undefined || transfer.receiver === undefined) return
      this.#transfers.delete(key)
      this.#ready.push(transfer)
      this.#onReady()
    })
  }

  copy(): void {
    const ready = this.#ready
    this.#ready = []
    for (const transfer of ready) {
      const sender = transfer.sender!
      const receiver = transfer.receiver!
      if (sender.buffer.byteLength === receiver.buffer.byteLength) {
        receiver.buffer.set(sender.buffer)
        sender.resolve()
        receiver.resolve()
      } else {
        const error = new RankweaveError(
          'ERR_FABRIC',
          `transfer ${transfer.transferId} from process ${transfer.src} to ${transfer.dst}: the receiver expected ` +
            `${receiver.buffer.byteLength} bytes, the sender sends ${sender.buffer.byteLength}`,
        )
        sender.reject(error)
        receiver.reject(error)
      }
    }
  }

  /** Fails every transfer that `process` takes part in, or all of them. */
  fail(error: RankweaveError, process?: number): void {
    const concerns = ({ src, dst }: Transfer) => process === undefined || src === process || dst === process
    const failed = [...this.#transfers.values(), ...this.#ready].filter(concerns)
    this.#ready = this.#ready.filter((transfer) => !concerns(transfer))
    for (const [key, transfer] of this.#transfers) if (concerns(transfer)) this.#transfers.delete(key)
    for (const { sender, receiver } of failed) {
      sender?.reject(error)
      receiver?.reject(error)
    }
  }
}
