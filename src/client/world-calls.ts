import { RankweaveError } from '../errors.js'
import { refusalOf } from '../websocket/protocol/refusals.js'
import { errorOf } from './answers.js'
import type { CallError, WorldEvent, WorldKind, WorldReply, WorldRequestInput } from './protocol/worlds.js'

/** The fields of a request that differ by its kind. */
export type Fields<K extends WorldKind> = Omit<WorldRequestInput<K>, 'id' | 'kind'>

interface Waiting {
  readonly resolve: (reply: never) => void
  readonly reject: (error: RankweaveError) => void
}

/** The close code of a WebSocket that got a message longer than it takes (RFC 6455, section 7.4.1). */
const tooLarge = 1009

interface CallListener {
  readonly onEvent: (event: WorldEvent) => void
  /** Called once, after which no replies and events follow. */
  readonly onEnd: (reason: RankweaveError) => void
}

/**
 * The requests over one socket and their replies, by number. Memory: the requests that wait for a reply, which the
 * service limits (`maxCallsInFlight`).
 */
export class WorldCalls {
  readonly #socket: ClientSocket
  readonly #listener: CallListener
  readonly #waiting = new Map<number, Waiting>()
  #next = 1
  #ended: RankweaveError | null = null
  /** The reason for which the service is about to close the socket. */
  #refusal: RankweaveError | null = null

  constructor(socket: ClientSocket, listener: CallListener) {
    this.#socket = socket
    this.#listener = listener
    socket.addEventListener('message', ({ data }) => this.#receive(data))
    socket.addEventListener('close', ({ code, reason }) =>
      this.end(
        this.#refusal ??
          errorOf(
            { code: refusalOf(code) ?? (code === tooLarge ? 'ERR_MESSAGE_TOO_LARGE' : 'ERR_SERVICE') },
            `the service has closed the connection (${reason === '' ? code : reason})`,
          ),
      ),
    )
  }

  get ended(): RankweaveError | null {
    return this.#ended
  }

  async ask<K extends WorldKind>(kind: K, fields: Fields<K>): Promise<WorldReply<K>> {
    if (this.#ended !== null) throw this.#ended
    const id = this.#next++
    const reply = new Promise<WorldReply<K>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    this.#socket.send(JSON.stringify({ id, kind, ...fields }))
    return reply
  }

  /** Fails the waiting requests, and all later ones. */
  end(reason: RankweaveError): void {
    if (this.#ended !== null) return
    this.#ended = reason
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.#listener.onEnd(reason)
  }

  #receive(data: unknown): void {
    if (this.#ended !== null) return
    const message = messageOf(data)
    if (message === null) this.#refuse()
    else if ('reply' in message) this.#replied(message)
    else if (message.event === 'refused') this.#refused(message)
    else this.#listener.onEvent(message)
  }

  #replied({ reply, error, ...rest }: Reply): void {
    const waiting = this.#waiting.get(reply)
    if (waiting === undefined) {
      this.#refuse()
      return
    }
    this.#waiting.delete(reply)
    if (error === undefined) waiting.resolve(rest as never)
    else waiting.reject(errorOf(error, 'refused'))
  }

  #refused({ id, error }: WorldEvent<'refused'>): void {
    const refusal = errorOf(error, 'refused')
    const waiting = id === null ? undefined : this.#waiting.get(id)
    if (waiting === undefined) this.#refusal = refusal
    else {
      this.#waiting.delete(id!)
      waiting.reject(refusal)
    }
  }

  #refuse(): void {
    this.#socket.close()
    this.end(new RankweaveError('ERR_PROTOCOL', 'expected a message of the protocol of worlds'))
  }
}

interface Reply {
  readonly reply: number
  readonly error?: CallError
}

/** Parses a message; null if it is not one of the protocol. */
function messageOf(data: unknown): WorldEvent | Reply | null {
  if (typeof data !== 'string') return null
  try {
    const message = Object(JSON.parse(data)) as Partial<Record<'reply' | 'event', unknown>>
    return typeof message.event === 'string' || typeof message.reply === 'number'
      ? (message as unknown as WorldEvent | Reply)
      : null
  } catch {
    return null
  }
}

/**
 * The part of a WebSocket that a member of a world uses, common to browsers, the package `ws` and Node 22.
 */
export interface ClientSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'error', listener: (event: object) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
}

/** Makes a socket that connects to an address which begins with `ws:` or `wss:`. */
export type MakeSocket = (url: string) => ClientSocket

/**
 * Returns the socket of the platform: that of browsers and Node 22, or that of the package `ws` on Node 20.
 * @throws ERR_SERVICE
 */
export async function platformSocket(): Promise<MakeSocket> {
  const { WebSocket } = globalThis as { readonly WebSocket?: new (url: string) => ClientSocket }
  if (WebSocket !== undefined) return (url) => new WebSocket(url)
  // The name is not a literal, for which bundlers of pages would look.
  const name: string = 'ws'
  try {
    const ws = (await import(/* @vite-ignore */ name)) as {
      readonly WebSocket: new (url: string, options: object) => ClientSocket
    }
    return (url) => new ws.WebSocket(url, { perMessageDeflate: false })
  } catch (cause) {
    throw new RankweaveError(
      'ERR_SERVICE',
      'there is no WebSocket here, nor the package ws: expected the option webSocket',
      { cause },
    )
  }
}
