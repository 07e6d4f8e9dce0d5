import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { Batch } from '../../../src/websocket/batch.js'
import {
  closeCode,
  dataVersion,
  encodeIntroduction,
  type Meeting,
  newNonce,
  ProofKey,
} from '../../../src/websocket/introduction.js'
import type { Socket } from '../../../src/websocket/socket/socket.js'
import {
  Conversation,
  helloOf,
  type Introduction,
  inMemoryWorld,
  observed,
  type Recorder,
  reportsOf,
  sendWord,
  tampering,
  until,
} from '../../support/memory-links.js'
import type { MemoryWorld } from '../../support/memory-membership.js'

// Process 2 is a modified program: it has what its `welcome` has, and introduces itself as process 1 to process 0.
const [victim, other, modified] = [0, 1, 2]
const frame = (src: number, word: number) => ({ src, word, bytes: 0 })

/** A batch with one frame. */
function forged(word: number): Uint8Array<ArrayBuffer> {
  const batch = new Batch(64)
  batch.add(0, Int32Array.of(word), undefined, 0, 0)
  return batch.seal(0)
}

/** Introduces itself to the victim as the other one, with a proof of its choice, and sends a frame. */
async function introduce(
  world: MemoryWorld,
  proofOf: (meeting: Meeting, answer: Introduction) => string | Promise<string>,
): Promise<number | string> {
  const conversation = await Conversation.with(world, victim)
  const hello = helloOf(other, victim)
  conversation.say(hello)
  const answer = await conversation.next()
  if (answer === undefined) return conversation.outcome()
  const meeting = { world: 'memory', from: other, nonceFrom: hello.nonce, to: victim, nonceTo: answer.nonce }
  conversation.say({ kind: 'proof', proof: await proofOf(meeting, answer) })
  conversation.say(forged(666))
  return conversation.outcome()
}

/** What comes of every proof that the modified member can make. */
async function outcomes(world: MemoryWorld): Promise<ReadonlySet<number | string>> {
  const keys = world.members[modified].peerKeys.filter((key) => key !== null)
  const seen = new Set<number | string>()
  for (const key of keys)
    for (const role of ['dialed', 'accepted'] as const)
      seen.add(await introduce(world, (meeting) => new ProofKey(key).make(role, meeting)))
  return seen
}

/** Honest members are served as if nothing had happened. */
async function expectUnharmed(
  world: MemoryWorld,
  [{ frames }]: readonly Recorder[],
  before = 0,
): Promise<void> {
  sendWord(world, other, victim, 5)
  await until(() => frames.length > before)
  sendWord(world, modified, victim, 6)
  await until(() => frames.length > before + 1)
  expect(frames).toEqual([...Array(before).fill(frame(other, 4)), frame(other, 5), frame(modified, 6)])
  expect(reportsOf(world)).toEqual([])
}

describe('a member that introduces itself as another is refused, and the other one is not harmed', () => {
  it('by each key that it has, while the link of the two is idle', () =>
    inMemoryWorld(3, async (world, sinks) => {
      expect(await outcomes(world)).toEqual(new Set([closeCode.proof]))
      await expectUnharmed(world, sinks)
    }))

  it('while the other one connects', () => {
    let proceed = () => {}
    const isHeld = new Promise<void>((resolve) => {
      proceed = resolve
    })
    const hold = tampering('texts', (text, pass) => void isHeld.then(() => pass(text)))
    return inMemoryWorld(
      3,
      async (world, sinks) => {
        sendWord(world, other, victim, 4)
        expect(await outcomes(world)).toEqual(new Set([closeCode.proof]))
        proceed()
        await until(() => sinks[victim].frames.length === 1)
        await expectUnharmed(world, sinks, 1)
      },
      { transport: observed([], hold, other) },
    )
  })

  it('while the two are connected, and after their connection has broken', () => {
    const dialed: Socket[] = []
    return inMemoryWorld(
      3,
      async (world, sinks) => {
        sendWord(world, other, victim, 4)
        await until(() => sinks[victim].frames.length === 1)
        expect(await outcomes(world)).toEqual(new Set([closeCode.occupied]))
        dialed[0].terminate!()
        await until(() => world.members[victim].reports.length === 1)
        expect(await outcomes(world)).toEqual(new Set([closeCode.occupied]))
        expect(sinks[victim].frames).toEqual([frame(other, 4)])
      },
      { transport: observed(dialed, undefined, other) },
    )
  })

  it('by an introduction of the other one that it has observed', () => {
    const texts: string[] = []
    // The network loses what follows, so that the link stays idle at the victim.
    const cut = tampering('texts', (text, pass, socket) => {
      if (texts.length === 2) return pass(text)
      texts.push(text)
      if (texts.length === 2) socket.terminate!()
      else pass(text)
    })
    return inMemoryWorld(
      3,
      async (world, sinks) => {
        const before = await Conversation.with(world, victim)
        sendWord(world, other, victim, 4)
        await until(() => texts.length === 2)
        before.say(texts[0])
        await before.next()
        before.say(texts[1])
        before.say(forged(666))
        expect([closeCode.proof, closeCode.occupied]).toContain(await before.outcome())
        await until(() => sinks[victim].frames.length === 1)
        await expectUnharmed(world, sinks, 1)
      },
      { transport: observed([], cut, other) },
    )
  })

  it('by the answer of the victim, or of the other one, to the same challenge', () =>
    inMemoryWorld(3, async (world, sinks) => {
      expect(await introduce(world, (_, { proof }) => proof)).toBe(closeCode.proof)
      const reflected = await introduce(world, async ({ nonceTo }) => {
        const conversation = await Conversation.with(world, other)
        conversation.say(helloOf(victim, other, { nonce: nonceTo }))
        return (await conversation.next())!.proof
      })
      expect(reflected).toBe(closeCode.proof)
      await expectUnharmed(world, sinks)
    }))

  it('when the other one dials it in place of the victim', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const elsewhere = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    await inMemoryWorld(
      3,
      async (world) => {
        const keys = world.members[modified].peerKeys.filter((key) => key !== null)
        const said: string[] = []
        let attempt = 0
        server.on('connection', (socket) => {
          socket.on('message', async (data) => {
            const { kind, from, to, nonce: nonceFrom } = JSON.parse(String(data))
            said.push(kind)
            const meeting = { world: 'memory', from, nonceFrom, to, nonceTo: newNonce() }
            const proof = await new ProofKey(keys[attempt++ % keys.length]).make('accepted', meeting)
            socket.send(JSON.stringify({ kind: 'answer', nonce: meeting.nonceTo, proof }))
          })
        })
        sendWord(world, other, victim, 4)
        await until(() => world.members[other].reports.length === 1)
        const reason = 'its proof is wrong'
        expect(world.members[other].reports).toEqual([{ peer: victim, reason, cause: 'closed' }])
        expect(said).toEqual(['hello'])
      },
      { address: (process, url) => (process === victim ? elsewhere : url) },
    )
    server.close()
  })
})

it.each<[string, object | string | Uint8Array<ArrayBuffer>, string?]>([
  ['bytes', new Uint8Array(64)],
  ['no JSON', 'hello'],
  ['too long a text', ' '.repeat(2000)],
  ['another message', encodeIntroduction<'ready'>({ kind: 'ready' })],
  ['more than the message has', helloOf(other, victim, { more: 1 })],
  [
    'the version before',
    helloOf(other, victim, { version: dataVersion - 1 }),
    'expected version 2 of data connections, got 1',
  ],
  ['another world', helloOf(other, victim, { world: 'other' })],
  ['another process', helloOf(other, other)],
  ['a process that there is not', helloOf(3, victim)],
  ['itself', helloOf(victim, victim)],
])('a stranger that says %s is refused', (_, message, reason) =>
  inMemoryWorld(3, async (world, sinks) => {
    const stranger = await Conversation.with(world, victim)
    stranger.say(message)
    const closed = await stranger.closed
    if (reason !== undefined) expect(closed).toEqual({ code: closeCode.malformed, reason })
    await expectUnharmed(world, sinks)
  }),
)

it('a peer gets in at its first attempt, while 80 connections that say nothing stay open', () => {
  const dialed: Socket[] = []
  return inMemoryWorld(
    3,
    async (world, sinks) => {
      const strangers = await Promise.all(Array.from({ length: 80 }, () => Conversation.with(world, victim)))
      // The oldest have made room for the newest.
      await Promise.all(strangers.slice(0, 16).map(({ closed }) => closed))
      await expectUnharmed(world, sinks)
      expect(dialed.length).toBe(1)
    },
    { transport: observed(dialed, undefined, other) },
  )
})
