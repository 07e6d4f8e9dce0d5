import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { below, mulberry32 } from '../../src/base/random.js'
import { isRankweaveError } from '../../src/errors.js'
import { decodeFromRendezvous, encodeControl } from '../../src/websocket/protocol/messages.js'
import { unexpected } from '../../src/websocket/rendezvous/refuse.js'
import { socketState } from '../../src/websocket/socket/socket.js'
import { RendezvousCase } from '../support/rendezvous-case.js'
import { demanded, isSoak } from '../support/soak.js'
import type { PairedSocket } from '../support/socket-pair.js'

type Next = () => number

const secret = '0f'.repeat(32)

/** A message that is right, or nearly: its place may be wrong. */
function message(next: Next, token: string): string {
  const process = below(next, 4)
  const nonce = next().toString(16).padStart(8, '0').repeat(4)
  const messages: readonly object[] = [
    {
      ...{
        kind: 'join',
        protocol: 2,
        token,
        nonce,
        program: 'digest',
        library: '1.0.0',
        node: 'n',
        address: null,
      },
      process: below(next, 2) === 0 ? null : process,
    },
    { kind: 'heartbeat', protocol: 2, world: token.slice(0, 16), process, secret },
    { kind: 'beat' },
    { kind: 'leave' },
    { kind: 'broken', process, cause: 'closed', reason: 'reset' },
    { kind: 'probe', process },
    { kind: 'present', process },
    { kind: 'decide', key: `k${below(next, 3)}`, members: [0, 1, process], contribution: '00ff' },
    { kind: 'lost', process, reason: 'it was silent' },
    { kind: 'decided', key: 'k0', contributions: [null, '00'], lost: [process] },
    { kind: 'handed', bytes: 5 },
    { kind: 'refused', code: 'ERR_TOKEN', message: 'no' },
    { kind: 'waiting', joined: 1, processes: 2, heartbeatMs: 100, silenceMs: 1_000 },
  ]
  return JSON.stringify(messages[below(next, messages.length)])
}

const odd = [
  '{',
  '}',
  '[[',
  '"',
  '\\',
  '\u0000',
  '\ud800',
  '1e999',
  '-0',
  'null',
  '__proto__',
  '9'.repeat(40),
  ' ',
]

/** What a broken or hostile peer may say: text that was cut, altered or repeated; bytes; nonsense. */
function said(next: Next, token: string): string | Uint8Array<ArrayBuffer> {
  const text = message(next, token)
  const at = below(next, text.length)
  switch (below(next, 9)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + odd[below(next, odd.length)] + text.slice(at)
    case 2:
      return text.slice(0, at) + String.fromCharCode(below(next, 2 ** 16)) + text.slice(at + 1)
    case 3:
      return text + text
    case 4:
      return text.slice(0, at) + text.slice(at + 1 + below(next, 9))
    case 5:
      return Uint8Array.from({ length: below(next, 12) }, () =>
        below(next, 2) === 0 ? below(next, 4) : below(next, 256),
      )
    case 6:
      return text.replace(/[\d"[\]{}:,]/g, (sign) =>
        below(next, 8) === 0 ? odd[below(next, odd.length)] : sign,
      )
    default:
      return text
  }
}

/** Collects garbage, and resolves to the bytes that are left. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  for (let n = 0; n < 3; n++) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

// 100,000 in soak, where the heap is looked at: before, another 2,000 fill what is filled once.
const count = demanded(100_000, 2_000)

it('whatever peers say, the rendezvous answers with a code, other worlds continue, and nothing is left behind', async () => {
  const rendezvous = new RendezvousCase()
  const { members } = await rendezvous.world(2)
  const refusals = new Map<string, number>()
  const dialled = new Set<PairedSocket>()

  const dial = () => {
    const socket = rendezvous.dial()
    dialled.add(socket)
    socket.addEventListener('message', ({ data }) => {
      if (typeof data !== 'string' || !data.includes('"refused"')) return
      const refused = decodeFromRendezvous(data) as { readonly code: string; readonly message: string }
      expect(refused.message).not.toContain(unexpected)
      refusals.set(refused.code, (refusals.get(refused.code) ?? 0) + 1)
    })
    socket.addEventListener('close', () => dialled.delete(socket))
    return socket
  }

  const fuzz = async (seed: number, most: number) => {
    const next = mulberry32(seed)
    for (let n = 0; n < most; ) {
      // A world that others join properly, or not at all, while this one speaks.
      const world = rendezvous.rendezvous.createWorld({ processes: 2 })
      if (below(next, 2) === 0) rendezvous.join(world.token)
      await rendezvous.turn()
      const socket = dial()
      await rendezvous.turn()
      if (below(next, 2) === 0) socket.send(encodeControl(JSON.parse(join(next, world.token))))
      for (let more = below(next, 8); more > 0 && n < most; more--) {
        socket.send(said(next, world.token))
        n++
        await rendezvous.turn()
        if (socket.readyState !== socketState.open) break
      }
      world.close('the case is over')
      if (below(next, 2) === 0) await rendezvous.turn()
      socket.terminate()
      await rendezvous.turn()
      rendezvous.clock.pass(10)
    }
  }

  if (isSoak) await fuzz(1, 2_000)
  const before = isSoak ? await heapBytes() : 0
  await fuzz(2, count)
  if (isSoak) expect(await heapBytes()).toBeLessThan(1.1 * before)

  for (const code of ['ERR_PROTOCOL', 'ERR_TOKEN', 'ERR_WORLD', 'ERR_WORLD_LOST']) {
    expect(refusals.get(code) ?? 0, code).toBeGreaterThan(0)
  }
  members[0].membership.relay(1, Uint8Array.of(1))
  await rendezvous.turn()
  expect(members.map(({ events }) => events)).toEqual([[], ['relayed 0: 1']])
  expect(dialled.size).toBe(0)
  await rendezvous.pass(10)
  // The two members' heartbeats, and the watches of both ends.
  expect(rendezvous.clock.pending).toBeLessThan(10)
})

function join(next: Next, token: string): string {
  const nonce = next().toString(16).padStart(8, '0').repeat(4)
  return JSON.stringify({
    ...{
      kind: 'join',
      protocol: 2,
      token,
      nonce,
      program: 'digest',
      library: '1.0.0',
      node: 'n',
      address: null,
    },
    process: null,
  })
}

it('whatever the rendezvous says, a member decodes it or throws ERR_PROTOCOL or ERR_MESSAGE_TOO_LARGE', () => {
  const next = mulberry32(3)
  for (let n = 0; n < count; n++) {
    const text = said(next, `${'0'.repeat(16)}.${'1'.repeat(32)}`)
    if (typeof text !== 'string') continue
    try {
      decodeFromRendezvous(text)
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_PROTOCOL', 'ERR_MESSAGE_TOO_LARGE')) throw error
    }
  }
})
