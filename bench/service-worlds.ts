import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { type Bench, type Figure, ownFigure } from './bench.js'

const worlds = 100
const members = 20
/** Calls of the same kind: their latencies in milliseconds. */
type Latencies = Readonly<Record<'split' | 'barrier' | 'free', number[]>>

/** Members that ask a service of another process over WebSockets, each as fast as it is answered. */
export const serviceWorldsBench: Bench = {
  name: 'service-worlds',
  question: `How fast does the service answer ${worlds * members} members in ${worlds} worlds that split, meet and free?`,
  async *measure({ quick = false } = {}) {
    const seconds = quick ? 5 : 60
    const service = await LoadedService.start()
    try {
      await service.load(1)
      const before = await service.heapBytes()
      const begin = performance.now()
      const latencies = await service.load(seconds)
      const took = (performance.now() - begin) / 1000
      const after = await service.heapBytes()
      yield* figuresOf(latencies, took, after / before)
    } finally {
      await service.end()
    }
  },
}

function* figuresOf(latencies: Latencies, seconds: number, heapRatio: number): Generator<Figure> {
  const details = { worlds, members, seconds: Math.round(seconds) }
  const calls = Object.values(latencies).reduce((sum, each) => sum + each.length, 0)
  yield ownFigure('calls answered', 'calls/s', [calls / seconds], null, { ...details, calls })
  for (const [kind, samples] of Object.entries(latencies)) {
    const sorted = Float64Array.from(samples).sort()
    for (const percent of [50, 99]) {
      const at = sorted[Math.floor((sorted.length * percent) / 100)]!
      yield ownFigure(`${kind}, percentile ${percent}`, 'ms', [at], null, {
        ...details,
        calls: sorted.length,
      })
    }
  }
  yield ownFigure('heap after it, of that before', 'ratio', [heapRatio], 1.1, details)
}

/** A service in a process of its own. */
class LoadedService {
  readonly #child: ChildProcess
  readonly #url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.#url = url
  }

  static async start(): Promise<LoadedService> {
    const file = fileURLToPath(new URL('service-worlds-child.ts', import.meta.url))
    const child = fork(file, { execArgv: ['--expose-gc', '--import', 'tsx'] })
    const [{ url }] = (await once(child, 'message')) as [{ url: string }]
    return new LoadedService(child, `${url.replace('http', 'ws')}/v1/worlds`)
  }

  async heapBytes(): Promise<number> {
    this.#child.send('heap')
    const [{ heapBytes }] = (await once(this.#child, 'message')) as [{ heapBytes: number }]
    return heapBytes
  }

  /** All members connect in one turn, call for so many seconds, leave, and close their sockets. */
  async load(seconds: number): Promise<Latencies> {
    const latencies: Latencies = { split: [], barrier: [], free: [] }
    const end = performance.now() + 1000 * seconds
    await Promise.all(
      Array.from({ length: worlds }, (_, n) => oneWorld(this.#url, `world-${n}`, end, latencies)),
    )
    return latencies
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.send('end')
    await ended
  }
}

async function oneWorld(url: string, name: string, end: number, latencies: Latencies): Promise<void> {
  const all = await Promise.all(Array.from({ length: members }, () => Client.connected(url)))
  await Promise.all(all.map((member) => member.call('join', { name, members })))
  await Promise.all(all.map((member) => member.begun))
  // All members of a world make the same number of rounds: the first decides, and the others follow it.
  let rounds = Number.POSITIVE_INFINITY
  await Promise.all(
    all.map(async (member, n) => {
      for (let round = 0; round < rounds; round++) {
        if (n === 0 && rounds === Number.POSITIVE_INFINITY && performance.now() > end) rounds = round + 2
        const { comm } = await member.timed(latencies.split, 'split', {
          comm: 'world',
          color: (n + round) % 3,
        })
        await member.timed(latencies.barrier, 'barrier', { comm: 'world' })
        await member.timed(latencies.free, 'free', { comm })
      }
      await member.call('leave', {})
      await member.close()
    }),
  )
}

interface Message {
  readonly reply?: number
  readonly error?: { readonly code: string; readonly message: string }
  readonly event?: string
  readonly comm?: string
}

/** A member of docs/service-protocol.md. An error of any call fails the bench. */
class Client {
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

  static async connected(url: string): Promise<Client> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await once(socket, 'open')
    const client = new Client(socket)
    await client.call('hello', { protocol: 1 })
    return client
  }

  call(kind: string, fields: object): Promise<Message> {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#socket.send(JSON.stringify({ id, kind, ...fields }))
    })
  }

  async timed(latencies: number[], kind: string, fields: object): Promise<Message> {
    const begin = performance.now()
    const reply = await this.call(kind, fields)
    latencies.push(performance.now() - begin)
    return reply
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, 'close')
    this.#socket.close()
    await closed
  }
}
