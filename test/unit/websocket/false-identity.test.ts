import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { Batch } from '../../../src/websocket/batch.js'
import { closeCode, dataVersion } from '../../../src/websocket/introduction.js'
import { type Meeting, newNonce, ProofKey } from '../../../src/websocket/proof.js'
import type { Socket, SocketTransport } from '../../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../../src/websocket/socket/transport-nodejs.js'
import { MemoryWorld, type MemoryWorldOptions } from '../../support/memory-membership.js'

// Process 2 is a modified program: it has what its `welcome` has, and introduces itself as process 1 to process 0.
const [victim, other, modified] = [0, 1, 2]

/** A text message on a connection. */
interface Heard {
  readonly kind: string
  readonly nonce: string
  readonly proof: string
}

interface Frame {
  readonly src: number
  readonly word: number
}

interface Case {
  readonly world: MemoryWorld
  /** What the victim was delivered. */
  readonly heard: readonly Frame[]
  /** Keys that the modified member has. */
  readonly keys: readonly Uint8Array[]
}

async function inWorld(options: MemoryWorldOptions, use: (tried: Case) => Promise<void>): Promise<void> {
  const world = await MemoryWorld.open(3, options)
  const heard: Frame[] = []
  for (const { hosted } of world.sessions) {
    const { process } = hosted[0]
    hosted[0].attach({
      frame: (src, header) => {
        if (process === victim) heard.push({ src, word: header[0] })
      },
      peerLost: () => {},
    })
  }
  try {
    await use({ world, heard, keys: world.members[modified].peerKeys.filter((key) => key !== null) })
  } finally {
    await world.close()
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

const send = (world: MemoryWorld, from: number, to: number, word: number) =>
  world.sessions[from].hosted[0].send(to, Int32Array.of(word))

/** A connection of the modified member, message by message. */
class Conversation {
  readonly closed: Promise<number>
  readonly #socket: Socket
  readonly #texts: string[] = []
  #isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.#texts.push(String(data)))
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code }) => {
        this.#isClosed = true
        resolve(code)
      })
    })
  }

  static async with(world: MemoryWorld, process: number): Promise<Conversation> {
    const socket = nodeTransport({ maxMessageBytes: 2 ** 20 }).dial(
      world.members[process].addresses[process]!,
    )
    const conversation = new Conversation(socket)
    await new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()))
    return conversation
  }

  say(message: object | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** The close code of a refusal, or the kind of the message that came instead. */
  async outcome(): Promise<number | string> {
    return (await this.next())?.kind ?? this.closed
  }

  /** The next message; undefined when the connection has closed. */
  async next(): Promise<Heard | undefined> {
    await until(() => this.#texts.length > 0 || this.#isClosed)
    const text = this.#texts.shift()
    return text === undefined ? undefined : JSON.parse(text)
  }
}

const hello = (from: number, to: number, nonce: string) => ({
  ...{ kind: 'hello', version: dataVersion, world: 'memory', from, to, nonce },
})

/** A batch with one frame. */
function forged(word: number): Uint8Array<ArrayBuffer> {
  const batch = new Batch(64)
  batch.add(0, Int32Array.of(word), undefined, 0, 0)
  return batch.seal(0)
}

/** Introduces itself to the victim as the other one, with a proof of its choice, and sends a frame. */
async function introduce(
  world: MemoryWorld,
  proofOf: (meeting: Meeting, answer: Heard) => string | Promise<string>,
): Promise<Conversation> {
  const conversation = await Conversation.with(world, victim)
  const nonceFrom = newNonce()
  conversation.say(hello(other, victim, nonceFrom))
  const answer = await conversation.next()
  if (answer === undefined) return conversation
  const meeting = { world: 'memory', from: other, nonceFrom, to: victim, nonceTo: answer.nonce }
  conversation.say({ kind: 'proof', proof: await proofOf(meeting, answer) })
  conversation.say(forged(666))
  return conversation
}

/** Honest members are served as if nothing had happened. */
async function expectUnharmed({ world, heard }: Case, before: readonly Frame[] = []): Promise<void> {
  send(world, other, victim, 5)
  await until(() => heard.length > before.length)
  expect(heard).toEqual([...before, { src: other, word: 5 }])
  send(world, modified, victim, 6)
  await until(() => heard.length > before.length + 1)
  expect(heard.at(-1)).toEqual({ src: modified, word: 6 })
  expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
}

/** Every proof that the modified member can make. */
const proofs = (keys: readonly Uint8Array[]) =>
  keys.flatMap((key) =>
    (['dialed', 'accepted'] as const).map(
      (role) => (meeting: Meeting) => new ProofKey(key).make(role, meeting),
    ),
  )

describe('a member that introduces itself as another is refused, and the other one is not harmed', () => {
  it('by each key that it has, while the link of the two is idle', () =>
    inWorld({}, async (tried) => {
      for (const proofOf of proofs(tried.keys)) {
        const conversation = await introduce(tried.world, proofOf)
        expect(await conversation.outcome()).toBe(closeCode.proof)
      }
      await expectUnharmed(tried)
    }))

  it('while the other one connects', () => {
    let proceed = () => {}
    const isHeld = new Promise<void>((resolve) => {
      proceed = resolve
    })
    return inWorld(
      { transport: changed(other, (text, pass) => void isHeld.then(() => pass(text))) },
      async (tried) => {
        send(tried.world, other, victim, 4)
        for (const proofOf of proofs(tried.keys)) {
          const conversation = await introduce(tried.world, proofOf)
          expect(await conversation.outcome()).toBe(closeCode.proof)
        }
        proceed()
        await until(() => tried.heard.length === 1)
        await expectUnharmed(tried, [{ src: other, word: 4 }])
      },
    )
  })

  it('while the two are connected, and after their connection has broken', () => {
    const dialed: Socket[] = []
    return inWorld({ transport: changed(other, (text, pass) => pass(text), dialed) }, async (tried) => {
      const { world, heard, keys } = tried
      send(world, other, victim, 4)
      await until(() => heard.length === 1)
      for (const proofOf of proofs(keys))
        expect(await (await introduce(world, proofOf)).outcome()).toBe(closeCode.occupied)
      dialed[0].terminate!()
      await until(() => world.members[victim].reports.length === 1)
      for (const proofOf of proofs(keys))
        expect(await (await introduce(world, proofOf)).outcome()).toBe(closeCode.occupied)
      expect(heard).toEqual([{ src: other, word: 4 }])
    })
  })

  it('by an introduction of the other one that it has observed', () => {
    const observed: string[] = []
    // The network loses what follows, so that the link stays idle at the victim.
    const cut = changed(other, (text, pass, socket) => {
      if (observed.length === 2) return pass(text)
      observed.push(text)
      if (observed.length === 2) socket.terminate!()
      else pass(text)
    })
    return inWorld({ transport: cut }, async (tried) => {
      const { world, heard } = tried
      const before = await Conversation.with(world, victim)
      send(world, other, victim, 4)
      await until(() => observed.length === 2)
      before.say(JSON.parse(observed[0]))
      await before.next()
      before.say(JSON.parse(observed[1]))
      before.say(forged(666))
      expect([closeCode.proof, closeCode.occupied]).toContain(await before.outcome())
      await until(() => heard.length === 1)
      await expectUnharmed(tried, [{ src: other, word: 4 }])
    })
  })

  it('by the answer of the victim, or of the other one, to the same challenge', () =>
    inWorld({}, async (tried) => {
      const { world } = tried
      const mirrored = await introduce(world, (_, { proof }) => proof)
      expect(await mirrored.outcome()).toBe(closeCode.proof)
      const reflected = await introduce(world, async ({ nonceTo }) => {
        const conversation = await Conversation.with(world, other)
        conversation.say(hello(victim, other, nonceTo))
        return (await conversation.next())!.proof
      })
      expect(await reflected.outcome()).toBe(closeCode.proof)
      await expectUnharmed(tried)
    }))

  it('when the other one dials it in place of the victim', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const elsewhere = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    const address = (process: number, url: string) => (process === victim ? elsewhere : url)
    await inWorld({ address }, async ({ world, keys }) => {
      const said: string[] = []
      let attempt = 0
      server.on('connection', (socket) => {
        socket.on('message', async (data) => {
          said.push(JSON.parse(String(data)).kind)
          const { from, to, nonce: nonceFrom } = JSON.parse(String(data))
          const meeting = { world: 'memory', from, nonceFrom, to, nonceTo: newNonce() }
          const proof = await new ProofKey(keys[attempt++ % keys.length]).make('accepted', meeting)
          socket.send(JSON.stringify({ kind: 'answer', nonce: meeting.nonceTo, proof }))
        })
      })
      send(world, other, victim, 4)
      await until(() => world.members[other].reports.length === 1)
      const reason = 'its proof is wrong'
      expect(world.members[other].reports).toEqual([{ peer: victim, reason, cause: 'closed' }])
      expect(said).toEqual(['hello'])
    })
    server.close()
  })
})

it('a process of the version before is refused in words', () =>
  inWorld({}, async ({ world }) => {
    const socket = nodeTransport({ maxMessageBytes: 2 ** 20 }).dial(world.members[victim].addresses[victim]!)
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ ...hello(modified, victim, newNonce()), version: dataVersion - 1 })),
    )
    const reason = await new Promise((resolve) =>
      socket.addEventListener('close', (event) => resolve([event.code, event.reason])),
    )
    expect(reason).toEqual([closeCode.malformed, 'expected version 2 of data connections, got 1'])
  }))

/** A transport whose texts, of the connections that one process dials, a test changes on their way. */
function changed(
  process: number,
  change: (text: string, pass: (text: string) => void, socket: Socket) => void,
  dialed: Socket[] = [],
): (of: number) => SocketTransport {
  return (of) => {
    const transport = nodeTransport({ maxMessageBytes: 2 ** 20 })
    if (of !== process) return transport
    return {
      ...transport,
      dial: (url) => {
        const socket = transport.dial(url)
        const original = socket.send.bind(socket)
        socket.send = (data, sent) => {
          if (typeof data === 'string') change(data, original, socket)
          else original(data, sent)
        }
        dialed.push(socket)
        return socket
      },
    }
  }
}
