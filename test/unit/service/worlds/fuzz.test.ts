import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { worldReplies } from '../../../../src/client/protocol/worlds.js'
import { WorldService } from '../../../../src/service/worlds/world-service.js'
import { AskingMember } from '../../../support/asking-member.js'
import { MemorySocket } from '../../../support/memory-socket.js'
import { demanded } from '../../../support/soak.js'
import { worldMessages } from '../../../support/world-messages.js'

/** A socket that says anything. */
class Stranger {
  readonly socket: MemorySocket
  /** Replies that are right, and failed calls, by what they say. */
  readonly replies: Set<string>
  id = 1

  constructor(service: WorldService, replies: Set<string>) {
    const [own, other] = MemorySocket.pair()
    this.socket = own
    this.replies = replies
    own.addEventListener('message', ({ data }) => {
      const { error, event } = JSON.parse(data as string) as { error?: { code: string }; event?: string }
      replies.add(event ?? error?.code ?? 'reply')
    })
    service.accept(other, 'memory')
    own.send(JSON.stringify({ id: 0, kind: 'hello', protocol: 1 }))
  }

  get isOpen(): boolean {
    return this.socket.readyState === 1
  }
}

it('messages generated from the schemas crash nothing, and leave nothing behind', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
  const errors: unknown[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => errors.push(fields) }
  const service = new WorldService({
    tenants: { find: () => ({ id: 'local' }) },
    log,
    limits: { maxMembers: 4, maxWorlds: 64, maxMessagesPerSecond: 1_000_000, watchMs: 1 },
  })
  const [random, message] = [seededRandom(7), worldMessages(11)]
  const seen = new Set<string>()
  const strangers = Array.from({ length: 12 }, () => new Stranger(service, seen))
  const count = demanded(100_000, 2_000)
  for (let n = 0; n < count; n++) {
    const at = Math.floor(random() * strangers.length)
    if (!strangers[at].isOpen) strangers[at] = new Stranger(service, seen)
    const stranger = strangers[at]
    stranger.socket.send(message(stranger.id++))
    if (random() < 0.005) stranger.socket.terminate()
    if (n % 16 === 0) await turn()
  }
  for (const code of [
    'reply',
    'begun',
    'member',
    'refused',
    'ERR_PROTOCOL',
    'ERR_NOT_FOUND',
    'ERR_WORLD',
    'ERR_RANK',
  ]) {
    expect(seen).toContain(code)
  }
  // The service works as before.
  const member = await AskingMember.greeted(service)
  worldReplies.watch.parse(await member.ask('watch', {}))
  for (const { socket } of strangers) socket.terminate()
  member.socket.terminate()
  while (service.metrics().worlds > 0 || service.metrics().sockets > 0) await turn()
  expect(errors).toEqual([])
  expect(unhandled).toEqual([])
  await service.close()
})
