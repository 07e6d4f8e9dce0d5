import type { RankweaveError } from '../../src/errors.js'
import type { FrameSink } from '../../src/fabric/fabric.js'
import { dataVersion, newNonce } from '../../src/websocket/introduction.js'
import type { Socket, SocketTransport } from '../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../src/websocket/socket/transport-nodejs.js'
import { MemoryWorld, type MemoryWorldOptions } from './memory-membership.js'

/** What a sink was told. */
export class Recorder implements FrameSink {
  readonly frames: { readonly src: number; readonly word: number | undefined; readonly bytes: number }[] = []
  readonly lost: string[] = []
  readonly ended: RankweaveError[] = []

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    this.frames.push({ src, word: header[0], bytes: payload.length })
  }

  peerLost(peer: number, reason: string): void {
    this.lost.push(`${peer}: ${reason}`)
  }

  worldLost(error: RankweaveError): void {
    this.ended.push(error)
  }
}

export const turn = () => new Promise((resolve) => setImmediate(resolve))

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

/** Runs `use` in a world of processes, each with a sink. */
export async function inMemoryWorld(
  processes: number,
  use: (world: MemoryWorld, sinks: readonly Recorder[]) => Promise<void>,
  options: MemoryWorldOptions = {},
): Promise<void> {
  const world = await MemoryWorld.open(processes, options)
  const sinks = world.sessions.map(({ hosted }) => {
    const sink = new Recorder()
    hosted[0].attach(sink)
    return sink
  })
  try {
    await use(world, sinks)
  } finally {
    await world.close()
  }
}

export const fabricOf = (world: MemoryWorld, process: number) => world.sessions[process].hosted[0]

/** Sends a frame whose header is one word, and whose payload has so many bytes. */
export const sendWord = (world: MemoryWorld, from: number, to: number, word: number, bytes = 0) =>
  fabricOf(world, from).send(to, Int32Array.of(word), new Uint8Array(bytes))

/** Every report of a broken link. */
export const reportsOf = (world: MemoryWorld) => world.members.flatMap(({ reports }) => reports)

const ofNode = () => nodeTransport({ maxMessageBytes: 2 ** 20 })

/** A transport of Node whose dialed sockets a test sees, of one process or all, and may change. */
export function observed(
  dialed: Socket[],
  change: (socket: Socket) => Socket = (socket) => socket,
  process?: number,
): (of: number) => SocketTransport {
  return (of) => {
    const transport = ofNode()
    if (process !== undefined && of !== process) return transport
    return {
      ...transport,
      dial: (url) => {
        const socket = change(transport.dial(url))
        dialed.push(socket)
        return socket
      },
    }
  }
}

type Pass<T> = (message: T) => void

/** A change of the bytes, or the texts, that a socket sends: what is passed on is sent instead. */
export function tampering<T extends 'bytes' | 'texts'>(
  what: T,
  change: (
    message: T extends 'bytes' ? Uint8Array : string,
    pass: Pass<Uint8Array | string>,
    socket: Socket,
  ) => void,
) {
  return (socket: Socket): Socket => {
    const original = socket.send.bind(socket)
    socket.send = (data, sent) => {
      if ((typeof data === 'string') !== (what === 'texts')) original(data, sent)
      else
        change(
          data as never,
          (message) =>
            original(
              typeof message === 'string' ? message : (message.slice() as Uint8Array<ArrayBuffer>),
              sent,
            ),
          socket,
        )
    }
    return socket
  }
}

/** A text message that introduces processes to each other. */
export interface Introduction {
  readonly kind: string
  readonly nonce: string
  readonly proof: string
}

/** The first message of a process that dials another. */
export const helloOf = (from: number, to: number, over: object = {}) => ({
  ...{ kind: 'hello', version: dataVersion, world: 'memory', from, to, nonce: newNonce() },
  ...over,
})

/** A connection to a process, message by message, of one that says what a test wants. */
export class Conversation {
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly #socket: Socket
  readonly #texts: string[] = []
  #isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.#texts.push(String(data)))
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        this.#isClosed = true
        resolve({ code, reason })
      })
    })
  }

  static async with(world: MemoryWorld, process: number): Promise<Conversation> {
    const socket = ofNode().dial(world.members[process].addresses[process]!)
    const conversation = new Conversation(socket)
    await new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()))
    return conversation
  }

  say(message: object | string | Uint8Array<ArrayBuffer>): void {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array
    this.#socket.send(isRaw ? message : JSON.stringify(message))
  }

  /** The next message; undefined when the connection has closed. */
  async next(): Promise<Introduction | undefined> {
    await until(() => this.#texts.length > 0 || this.#isClosed)
    const text = this.#texts.shift()
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** The close code of a refusal, or the kind of the message that came instead. */
  async outcome(): Promise<number | string> {
    return (await this.next())?.kind ?? (await this.closed).code
  }
}
