import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { realClock } from '../../src/base/clock.js'
import { below, mulberry32 } from '../../src/base/random.js'
import { RankweaveError } from '../../src/errors.js'
import { batchPayloadBytes } from '../../src/websocket/batch.js'
import { WebSocketProcess } from '../../src/websocket/websocket.js'
import { MemoryMembership } from '../support/memory-membership.js'
import { demanded, isSoak } from '../support/soak.js'

type Next = () => number

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const turn = () => new Promise((resolve) => setImmediate(resolve))
const transferBytes = 3000

/** A process that is reached by messages only. */
class Receiver {
  readonly frames: string[] = []
  readonly into = new Uint8Array(transferBytes)
  readonly membership: MemoryMembership
  readonly process: WebSocketProcess
  isFilled = false

  constructor(process: number, members: readonly MemoryMembership[] = []) {
    this.membership = MemoryMembership.relayed(process, 2, members)
    this.process = new WebSocketProcess({
      membership: this.membership,
      transport: { dial: () => expect.unreachable('nothing is dialed') },
      listener: undefined,
      clock: realClock,
    })
    this.process.attach({
      frame: (src, header, payload) => {
        expect(payload.length).toBeLessThanOrEqual(batchPayloadBytes)
        this.frames.push(`${src} ${header.join()} ${payload.length}`)
      },
      peerLost: () => {},
    })
  }

  receive(): void {
    this.process.bulk.receive(1, 1, this.into).then(
      () => {
        this.isFilled = true
      },
      (error: unknown) => {
        if (!(error instanceof RankweaveError)) throw error
      },
    )
  }

  take(message: Uint8Array): void {
    this.membership.events!.relayed(1, message)
  }
}

/**
 * What process 1 sends process 0: frames of all sizes, several per message, and a bulk transfer between them.
 */
async function recorded(): Promise<{
  readonly messages: readonly Uint8Array[]
  readonly frames: readonly string[]
}> {
  const members: MemoryMembership[] = []
  const [to, from] = [new Receiver(0, members), new Receiver(1, members)]
  members.push(to.membership, from.membership)
  const messages: Uint8Array[] = []
  const taken = to.membership.events!.relayed
  to.membership.events = {
    ...to.membership.events!,
    relayed: (src, message) => {
      messages.push(message.slice())
      taken(src, message)
    },
  }
  to.receive()
  const sending = from.process.bulk.send(0, 1, new Uint8Array(transferBytes).fill(7))
  for (let n = 0; n < 12; n++) {
    from.process.send(0, new Int32Array(n).fill(n), new Uint8Array(n * n))
    if (n % 3 === 2) await turn()
  }
  await sending
  while (!to.isFilled || to.frames.length < 12) await turn()
  await Promise.all([to.process.close(), from.process.close()])
  return { messages, frames: to.frames }
}

/** Ways to damage a sequence of messages that are always noticed. */
const damages: readonly ((messages: Uint8Array[], at: number, next: Next) => void)[] = [
  (messages, at, next) => messages.splice(at, 1, messages[at].subarray(0, below(next, messages[at].length))),
  (messages, at, next) => messages.splice(at, 1, concat(messages[at], new Uint8Array(1 + below(next, 40)))),
  (messages, at) => messages.splice(at, 0, messages[at]),
  (messages, at) => messages.splice(at, 2, messages[at + 1], messages[at]),
  (messages, at) => messages.splice(at, 1),
  (messages, at, next) =>
    messages.splice(
      at,
      1,
      Uint8Array.from({ length: 64 }, () => below(next, 256)),
    ),
]

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

it('whatever a peer sends, a process delivers a beginning of what was sent and reports the link, or takes a changed value', async () => {
  const { messages, frames } = await recorded()
  expect(messages.length).toBeGreaterThan(4)

  const fuzz = async (seed: number, count: number) => {
    const next = mulberry32(seed)
    for (let n = 0; n < count; n++) {
      const receiver = new Receiver(0)
      receiver.receive()
      const damaged = messages.slice()
      const at = below(next, messages.length - 1)
      const way = below(next, 2 * damages.length)
      if (way < damages.length) damages[way](damaged, at, next)
      else {
        const copy = damaged[at].slice()
        for (let left = 1 + below(next, 4); left > 0; left--)
          copy[below(next, copy.length)] = below(next, 256)
        damaged[at] = copy
      }
      for (const message of damaged) receiver.take(message)
      const { reports } = receiver.membership
      if (way < damages.length) {
        expect(reports.length, `way ${way}`).toBe(1)
        expect(receiver.frames).toEqual(frames.slice(0, receiver.frames.length))
      }
      expect(reports.length).toBeLessThanOrEqual(1)
      if (reports.length === 1) {
        const before = receiver.frames.length
        for (const message of messages) receiver.take(message)
        expect(receiver.frames.length).toBe(before)
      }
      await receiver.process.close()
    }
  }

  const heapBytes = async () => {
    for (let n = 0; n < 3; n++) {
      await turn()
      collectGarbage()
    }
    return process.memoryUsage().heapUsed
  }

  if (isSoak) await fuzz(1, 2000)
  const before = isSoak ? await heapBytes() : 0
  await fuzz(2, demanded(100_000, 2_000))
  if (isSoak) expect(await heapBytes()).toBeLessThan(1.1 * before)
})
