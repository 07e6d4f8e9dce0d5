import { once } from 'node:events'
import { WebSocket } from 'ws'

interface Message {
  readonly reply?: number
  readonly error?: { readonly code: string; readonly message: string }
  readonly event?: string
  readonly comm?: string
}

/**
 * A member of docs/service-protocol.md, with as little of its own as there can be. An error of any call fails
 * the bench.
 */
export class AskingMember {
  readonly begun: Promise<void>
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, { resolve(reply: Message): void; reject(error: Error): void }>()
  #next = 1

  private constructor(socket: WebSocket) {
    this.#socket = socket
    let begun!: () => void
    this.begun = new Promise((resolve) => {
      begun = resolve
    })
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message
      if (message.event === 'begun') begun()
      if (message.reply === undefined) return
      const waiting = this.#waiting.get(message.reply)!
      this.#waiting.delete(message.reply)
      if (message.error === undefined) waiting.resolve(message)
      else waiting.reject(new Error(`${message.error.code}: ${message.error.message}`))
    })
    socket.on('close', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`closed with code ${code}`))
    })
  }

  static async connected(url: string): Promise<AskingMember> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await once(socket, 'open')
    const member = new AskingMember(socket)
    await member.call('hello', { protocol: 1 })
    return member
  }

  call(kind: string, fields: object): Promise<Message> {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#socket.send(JSON.stringify({ id, kind, ...fields }))
    })
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, 'close')
    this.#socket.close()
    await closed
  }
}
