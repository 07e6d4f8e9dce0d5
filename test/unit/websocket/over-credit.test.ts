import { expect, it } from 'vitest'
import {
  collectiveWord,
  collectiveWords,
  envelopeWord,
  envelopeWords,
  frameKind,
  headerWord,
  transferWord,
} from '../../../src/messages/process/frames.js'
import { Runtime } from '../../../src/messages/process/runtime.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { MemoryWorld } from '../../support/memory-membership.js'

const creditBytes = 2 ** 20
const payload = new Uint8Array(32_768)

/** Header words of a kind for a communicator that no rank opens. */
function headerOf(kind: number, words: number, more: Readonly<Record<number, number>> = {}): Int32Array {
  const header = new Int32Array(words)
  header[headerWord.kind] = kind
  header[headerWord.counter] = 7
  for (const [at, value] of Object.entries(more)) header[Number(at)] = value
  return header
}

const ignoring = {
  'eager messages': [headerOf(frameKind.eager, envelopeWords, { [envelopeWord.sizeBytes]: 32_768 }), payload],
  'messages that are longer than they say': [headerOf(frameKind.eager, envelopeWords), payload],
  'empty messages': [headerOf(frameKind.eager, envelopeWords), undefined],
  'messages of collectives': [
    headerOf(frameKind.collective, collectiveWords, { [collectiveWord.total]: 32_768 }),
    payload,
  ],
  'a collective message of 3 GiB': [
    headerOf(frameKind.collective, collectiveWords, { [collectiveWord.total]: 3 * 2 ** 30 }),
    payload,
  ],
  'frames for which no credit is taken': [
    headerOf(frameKind.data, 6, { [transferWord.transferId]: 1 }),
    payload,
  ],
} as const

it.each(Object.entries(ignoring))(
  'a process that sends %s without credit is lost, and little is held of it',
  async (name, [header, bytes]) => {
    const world = await MemoryWorld.open(3)
    const layout = worldLayout(3, ['a', 'b', 'c'])
    const [victim, modified, other] = world.sessions.map(({ hosted }) => hosted[0])
    modified.attach({ frame: () => {}, peerLost: () => {} })
    const options = { eagerLimitBytes: 65_536, creditBytes }
    const runtimes = [victim, other].map((fabric) => new Runtime(fabric, layout, options))
    const { reports } = world.members[0]
    // No more than the victim has taken, lest the modified process exceeds the limit of its own queue.
    const { processCounters: counters } = runtimes[0]
    for (let sent = 0; reports.length === 0; ) {
      if (counters.framesReceived >= sent)
        for (const batchEnd = sent + 64; sent < batchEnd; sent++) modified.send(0, header, bytes)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const what = name.startsWith('frames')
      ? 'process 1 sends to communicators that are not open'
      : name.includes('longer')
        ? 'expected 0 bytes of a message of 0'
        : 'process 1 exceeds its credit'
    expect(reports).toEqual([{ peer: 1, reason: expect.stringContaining(what), cause: 'malformed' }])
    const lost = runtimes.map((runtime) => new Promise((resolve) => (runtime.onPeerLost = resolve)))
    // As the rendezvous does with who breaks a rule.
    world.lose(1, reports[0].reason)
    expect(await Promise.all(lost)).toEqual([1, 1])
    for (const runtime of runtimes)
      expect(runtime.lostPeer(1)).toMatchObject({
        code: 'ERR_PEER_LOST',
        message: expect.stringContaining(what),
      })
    // Every frame that is held is one that has been received.
    const mostBytes = creditBytes + (name.startsWith('frames') ? 2 ** 26 : 0) + 2 * payload.length
    expect(runtimes[0].processCounters.frameBytesReceived).toBeLessThan(mostBytes)
    await world.close()
  },
)
