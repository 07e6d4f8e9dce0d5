import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { defaultRendezvousLimits } from '../../../../src/websocket/protocol/limits.js'
import type { ToRendezvous } from '../../../../src/websocket/protocol/messages.js'
import { encodeControl } from '../../../../src/websocket/protocol/messages.js'
import { toHex } from '../../../../src/websocket/protocol/secrets.js'
import type { JoinWorldOptions } from '../../../../src/websocket/rendezvous/join-world.js'
import { socketState } from '../../../../src/websocket/socket/socket.js'
import { RendezvousCase } from '../../../support/rendezvous-case.js'

const join = (token: string, nonce = '00'.repeat(16)): ToRendezvous => ({
  ...{ kind: 'join', protocol: 2, token, nonce, program: 'digest', library: '1.0.0', node: 'node' },
  ...{ process: null, address: null },
})

/** What a connection is sent that says this first, and the close code. */
async function answerTo(rendezvous: RendezvousCase, ...said: readonly (string | Uint8Array<ArrayBuffer>)[]) {
  const socket = rendezvous.dial()
  const answers: string[] = []
  let closedWith: number | undefined
  socket.addEventListener('message', ({ data }) => answers.push(String(data)))
  socket.addEventListener('close', ({ code }) => {
    closedWith = code
  })
  await rendezvous.turn()
  for (const message of said) socket.send(message)
  await rendezvous.turn()
  return { socket, answers, closedWith: () => closedWith }
}

describe('joining', () => {
  it('gives numbers by order of joining, except to members that ask for one', async () => {
    const asked: (number | undefined)[] = [undefined, 0, undefined, 3]
    const { members } = await new RendezvousCase().world(4, {}, (n) => ({
      node: `node ${n}`,
      listenUrl: n === 2 ? null : `ws://host:${n}`,
      ...(asked[n] === undefined ? {} : { process: asked[n] }),
    }))
    expect(members.map(({ membership }) => membership.process)).toEqual([1, 0, 2, 3])
    for (const { membership } of members) {
      expect(membership.processes).toBe(4)
      expect(membership.nodes).toEqual(['node 1', 'node 0', 'node 2', 'node 3'])
      expect(membership.addresses).toEqual(['ws://host:1', 'ws://host:0', null, 'ws://host:3'])
    }
  })

  it('gives each pair of members that can connect a key, which no other member has', async () => {
    const { members } = await new RendezvousCase().world(4, {}, (n) => ({
      listenUrl: n === 2 ? null : `ws://host:${n}`,
    }))
    const keysOf = members.map(({ membership }) => membership.peerKeys.map((key) => key && toHex(key)))
    expect(keysOf.map((keys) => keys.map((key) => key?.length ?? 0))).toEqual([
      [0, 64, 0, 64],
      [64, 0, 0, 64],
      [0, 0, 0, 0],
      [64, 64, 0, 0],
    ])
    for (const [a, b] of [...keysOf.keys()].flatMap((a) => [...keysOf.keys()].map((b) => [a, b])))
      expect(keysOf[a][b]).toBe(keysOf[b][a])
    expect(new Set(keysOf.flat().filter((key) => key !== null)).size).toBe(3)
  })

  it('tells a member that waits', async () => {
    const told: number[][] = []
    await new RendezvousCase().world(2, {}, () => ({ onWaiting: (...counts) => told.push(counts) }))
    expect(told).toEqual([
      [1, 2],
      [2, 2],
    ])
  })
})

describe('requests to join are refused', () => {
  it.each<[string, string, Partial<JoinWorldOptions> & { readonly token?: string }]>([
    ['a wrong token', 'ERR_TOKEN', { token: 'wrong' }],
    ['no token', 'ERR_TOKEN', { token: '' }],
    ['another program', 'ERR_PROGRAM_MISMATCH', { program: 'other' }],
    ['another version', 'ERR_VERSION_MISMATCH', { version: '2.0.0' }],
    ['a tuning file where the others have none', 'ERR_TUNING_MISMATCH', { tuning: '0123456789abcdef' }],
    ['a checksum that is none', 'ERR_PROTOCOL', { tuning: 'abc' }],
    ['a number out of range', 'ERR_WORLD', { process: 2 }],
    ['a number that is taken', 'ERR_WORLD_FULL', { process: 1 }],
    ['a node label that is none', 'ERR_PROTOCOL', { node: '' }],
  ])('%s: %s', async (_, code, options) => {
    const rendezvous = new RendezvousCase()
    const { token } = rendezvous.rendezvous.createWorld({ processes: 2 })
    const waiting = rendezvous.join(token, { process: 1 })
    await rendezvous.turn()
    expect(await rendezvous.outcomes(rendezvous.join(options.token ?? token, options))).toEqual([code])
    // The world is unharmed.
    expect(await rendezvous.outcomes(rendezvous.join(token), waiting)).toEqual([0, 1])
  })

  it('what the world was created with counts more than its first member', async () => {
    const rendezvous = new RendezvousCase()
    const { token } = rendezvous.rendezvous.createWorld({ processes: 2, program: 'given', version: '3' })
    const [program, version] = [{ version: '3' }, { program: 'given' }].map((of) =>
      rendezvous.join(token, of),
    )
    const codes = ['ERR_PROGRAM_MISMATCH', 'ERR_VERSION_MISMATCH']
    expect(await rendezvous.outcomes(program, version)).toEqual(codes)
  })

  it.each([
    ['the world', '0123456789abcdef'],
    ['its first member', undefined],
  ])('of another tuning file than that of %s', async (_, tuning) => {
    const rendezvous = new RendezvousCase()
    const right = { tuning: '0123456789abcdef' }
    const { token } = rendezvous.rendezvous.createWorld({ processes: 2, ...(tuning && { tuning }) })
    const first = rendezvous.join(token, right)
    await rendezvous.turn()
    const joins = [{}, { tuning: 'fedcba9876543210' }, right].map((of) => rendezvous.join(token, of))
    const mismatch = 'ERR_TUNING_MISMATCH'
    expect(await rendezvous.outcomes(first, ...joins)).toEqual([0, mismatch, mismatch, 1])
  })

  it('by a world that is full, also after a loss', async () => {
    const { rendezvous, world, members } = await RendezvousCase.with(2)
    expect(await rendezvous.outcomes(rendezvous.join(world.token))).toEqual(['ERR_WORLD_FULL'])
    members[1].socket.terminate()
    expect(await rendezvous.outcomes(rendezvous.join(world.token))).toEqual(['ERR_WORLD_FULL'])
  })

  it('a request that is repeated, on the same world only', async () => {
    const rendezvous = new RendezvousCase()
    const [a, b] = [2, 2].map((processes) => rendezvous.rendezvous.createWorld({ processes }))
    const first = await answerTo(rendezvous, encodeControl(join(a.token)))
    const again = await answerTo(rendezvous, encodeControl(join(a.token)))
    const elsewhere = await answerTo(rendezvous, encodeControl(join(b.token)))
    expect(first.answers[0]).toContain('"waiting"')
    expect(again.answers[0]).toContain('"ERR_REPLAYED"')
    expect(again.closedWith()).toBe(4002)
    expect(elsewhere.answers[0]).toContain('"waiting"')
  })

  it('an unknown world and a wrong secret get the same answer', async () => {
    const rendezvous = new RendezvousCase()
    const { token } = rendezvous.rendezvous.createWorld({ processes: 2 })
    const secret = await answerTo(rendezvous, encodeControl(join(`${token.slice(0, 17)}${'0'.repeat(32)}`)))
    const world = await answerTo(rendezvous, encodeControl(join(`${'0'.repeat(16)}${token.slice(16)}`)))
    const heartbeat = (id: string) =>
      encodeControl({ kind: 'heartbeat', protocol: 2, world: id, process: 0, secret: '00'.repeat(32) })
    const [known, unknown] = [token.slice(0, 16), '0'.repeat(16)]
    const answers = [
      secret,
      world,
      await answerTo(rendezvous, heartbeat(known)),
      await answerTo(rendezvous, heartbeat(unknown)),
    ]
    expect(new Set(answers.map(({ answers, closedWith }) => `${answers} ${closedWith()}`)).size).toBe(1)
    expect(secret.closedWith()).toBe(4001)
  })

  it.each<[string, string | Uint8Array<ArrayBuffer>, number]>([
    ['bytes', new Uint8Array(8), 4000],
    ['no JSON', 'hello', 4000],
    ['a message of members', '{"kind":"leave"}', 4000],
    ['another version', '{"kind":"join","protocol":7}', 4005],
    ['more than is read', 'x'.repeat(2 ** 16 + 1), 4006],
  ])('a first message that is none: %s', async (_, said, code) => {
    const rendezvous = new RendezvousCase()
    expect((await answerTo(rendezvous, said, said)).closedWith()).toBe(code)
  })
})

describe('while a world waits', () => {
  it('the place of a member that goes away is free again', async () => {
    const rendezvous = new RendezvousCase()
    const { token } = rendezvous.rendezvous.createWorld({ processes: 2 })
    const gone = rendezvous.join(token, { process: 0, program: 'old' })
    const left = new AbortController()
    await rendezvous.turn()
    gone.socket.terminate()
    await rendezvous.turn()
    const aborted = rendezvous.join(token, { process: 0, signal: left.signal })
    await rendezvous.turn()
    left.abort('enough')
    expect(await rendezvous.outcomes(gone, aborted)).toEqual(['ERR_WORLD_LOST', 'ERR_ABORTED'])
    await expect(aborted.joined).rejects.toMatchObject({ cause: 'enough' })
    const members = [rendezvous.join(token, { process: 0 }), rendezvous.join(token)]
    const never = rendezvous.join(token, { signal: AbortSignal.abort() })
    expect(await rendezvous.outcomes(...members, never)).toEqual([0, 1, 'ERR_ABORTED'])
  })

  it('a member that is silent gives up its place, one that answers waits without end', async () => {
    const rendezvous = new RendezvousCase()
    const limits = { heartbeatMs: 100, silenceMs: 1_000 }
    const { token } = rendezvous.rendezvous.createWorld({ processes: 3, limits })
    const silent = rendezvous.join(token, { process: 0 })
    const patient = rendezvous.join(token, { process: 1 })
    await rendezvous.turn()
    silent.socket.isCut = true
    await rendezvous.pass(5_000, 50)
    expect(silent.socket.peer.readyState).not.toBe(socketState.open)
    const instead = [rendezvous.join(token, { process: 0 }), rendezvous.join(token)]
    expect(await rendezvous.outcomes(...instead, patient)).toEqual([0, 2, 1])
  })

  it('members that flood are refused, and those that say what only members of a complete world may', async () => {
    const rendezvous = new RendezvousCase({ limits: { maxWaitingMessages: 5 } })
    const { token } = rendezvous.rendezvous.createWorld({ processes: 9 })
    const beats = Array.from({ length: 6 }, () => '{"kind":"beat"}')
    const request = (n: number) => encodeControl(join(token, `0${n}`.repeat(16)))
    expect((await answerTo(rendezvous, request(1), ...beats.slice(1))).closedWith()).toBeUndefined()
    expect((await answerTo(rendezvous, request(2), ...beats)).closedWith()).toBe(4007)
    const early = '{"kind":"broken","process":0,"cause":"closed","reason":""}'
    expect((await answerTo(rendezvous, request(3), early)).closedWith()).toBe(4000)
    expect((await answerTo(rendezvous, request(4), new Uint8Array(9))).closedWith()).toBe(4000)
    expect((await answerTo(rendezvous, request(5), request(5))).closedWith()).toBe(4000)
  })
})

it('a process that cannot start its heartbeats does not join, and the others learn that it is lost', async () => {
  const rendezvous = new RendezvousCase()
  const { token } = rendezvous.rendezvous.createWorld({ processes: 2 })
  const startHeartbeats = () => {
    throw new RankweaveError('ERR_WORKER', 'no thread')
  }
  let refused = 'pending'
  rendezvous.join(token, { process: 1, startHeartbeats }).joined.catch(({ code }) => {
    refused = code
  })
  const other = rendezvous.join(token, { process: 0 })
  await rendezvous.turn()
  expect(refused).toBe('ERR_WORKER')
  const lost: number[] = []
  ;(await other.joined).attach({ lost: (process) => lost.push(process), worldLost() {}, relayed() {} })
  await rendezvous.turn()
  expect(lost).toEqual([1])
})

describe('what the rendezvous bounds', () => {
  it('sockets that say nothing are closed after five seconds', async () => {
    const rendezvous = new RendezvousCase()
    const { closedWith } = await answerTo(rendezvous)
    await rendezvous.pass(4_990)
    expect(closedWith()).toBeUndefined()
    await rendezvous.pass(10)
    expect(closedWith()).toBe(4007)
  })

  it('sockets that say nothing, in number: those that have joined do not count', async () => {
    const rendezvous = new RendezvousCase({ limits: { maxPendingSockets: 2 } })
    const { world } = await rendezvous.world(2)
    const idle = [await answerTo(rendezvous), await answerTo(rendezvous)]
    const third = await answerTo(rendezvous)
    expect(third.answers[0]).toContain('maxPendingSockets')
    expect(third.closedWith()).toBe(4007)
    idle[0].socket.terminate()
    await rendezvous.turn()
    expect((await answerTo(rendezvous, encodeControl(join(world.token)))).closedWith()).toBe(4003)
  })

  it('sockets of one address that say nothing, other than loopback', async () => {
    const rendezvous = new RendezvousCase({ limits: { maxPendingPerAddress: 2 } })
    const { token } = rendezvous.rendezvous.createWorld({ processes: 9 })
    const closed: string[] = []
    const dialed = (remote: string) => {
      const socket = rendezvous.dial(remote)
      socket.addEventListener('close', ({ code }) => closed.push(`${remote} ${code}`))
      return socket
    }
    const here = ['127.0.0.1', '127.0.0.1', '::1', '::1', '127.0.0.2', '127.0.0.3'].map(dialed)
    const first = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2:1'].map(dialed)
    await rendezvous.turn()
    expect(closed).toEqual([])
    for (const remote of ['::ffff:192.0.2.1', '2001:db8:0:0:7::', '2001:db8:0:1::1']) dialed(remote)
    await rendezvous.turn()
    expect(closed).toEqual(['::ffff:192.0.2.1 4007', '2001:db8:0:0:7:: 4007'])
    // Whoever has joined, or gone, does not count.
    first[0].send(encodeControl(join(token)))
    first[3].terminate()
    await rendezvous.turn()
    for (const remote of ['192.0.2.1', '2001:db8::3']) dialed(remote)
    await rendezvous.turn()
    expect(closed.slice(2)).toEqual(['2001:db8::1 1006'])
    expect(here.every(({ readyState }) => readyState === socketState.open)).toBe(true)
  })

  it('a process that finds it crowded joins when there is room, and is refused when there is none for 8 seconds', async () => {
    const rendezvous = new RendezvousCase({ limits: { maxPendingSockets: 1, firstMessageMs: 60_000 } })
    const { token } = rendezvous.rendezvous.createWorld({ processes: 2 })
    const idle = await answerTo(rendezvous)
    const first = rendezvous.join(token)
    const left = new AbortController()
    const impatient = rendezvous.join(token, { signal: left.signal })
    await rendezvous.pass(1_000)
    left.abort('enough')
    await expect(impatient.joined).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    idle.socket.terminate()
    await rendezvous.pass(2_000)
    await answerTo(rendezvous)
    const late = rendezvous.join(token)
    await rendezvous.pass(7_740)
    let refused = 'pending'
    late.joined.catch(({ message }) => {
      refused = message
    })
    await rendezvous.turn()
    expect(refused).toBe('pending')
    await rendezvous.pass(20)
    expect(refused).toContain('maxPendingSockets')
    rendezvous.rendezvous.close('done')
    await rendezvous.turn()
    await expect(first.joined).rejects.toMatchObject({ code: 'ERR_WORLD_LOST', message: /done/ })
  })

  it('a limit that is undefined has its default', () => {
    const { rendezvous } = new RendezvousCase({ limits: { maxSockets: undefined } as object })
    expect(rendezvous.limits.maxSockets).toBe(defaultRendezvousLimits.maxSockets)
  })

  it('sockets, worlds and processes', async () => {
    const rendezvous = new RendezvousCase({ limits: { maxSockets: 3, maxWorlds: 2, maxProcesses: 3 } })
    const { rendezvous: it } = rendezvous
    await rendezvous.world(3)
    expect((await answerTo(rendezvous)).answers[0]).toContain('maxSockets')
    const second = it.createWorld({ processes: 1 })
    expect(() => it.createWorld({ processes: 1 })).toThrow(expect.objectContaining({ code: 'ERR_LIMIT' }))
    second.close()
    expect(() => it.createWorld({ processes: 4 })).toThrow(expect.objectContaining({ code: 'ERR_WORLD' }))
    it.createWorld({ processes: 1 })
  })

  it.each([
    [{ processes: 0 }, 'ERR_WORLD'],
    [{ processes: 1.5 }, 'ERR_WORLD'],
    [{ processes: 1, more: 1 }, 'ERR_ARGUMENT'],
    [{ processes: 1, limits: { silence: 1 } }, 'ERR_ARGUMENT'],
    [{ processes: 1, limits: { silenceMs: -1 } }, 'ERR_ARGUMENT'],
    [{ processes: 1, limits: { silenceMs: 100, heartbeatMs: 90 } }, 'ERR_ARGUMENT'],
  ])('a world that cannot be: %j', (options, code) => {
    expect(() => new RendezvousCase().rendezvous.createWorld(options as never)).toThrow(
      expect.objectContaining({ code }),
    )
  })

  it('closing tells members, and those that come later', async () => {
    const { rendezvous, world, members } = await RendezvousCase.with(2)
    const waiting = rendezvous.join(rendezvous.rendezvous.createWorld({ processes: 2 }).token)
    const idle = await answerTo(rendezvous)
    rendezvous.rendezvous.close('maintenance')
    await rendezvous.turn()
    expect(members[0].errors[0]).toMatchObject({
      code: 'ERR_WORLD_LOST',
      message: 'the rendezvous has closed the world: maintenance',
    })
    await expect(waiting.joined).rejects.toMatchObject({ code: 'ERR_WORLD_LOST' })
    expect(idle.closedWith()).toBe(4009)
    expect((await answerTo(rendezvous)).closedWith()).toBe(4009)
    expect(await world.ended).toEqual({ lost: [], failed: null, closed: 'maintenance' })
    expect(rendezvous.clock.pending).toBe(0)
    expect(() => rendezvous.rendezvous.createWorld({ processes: 1 })).toThrow(
      expect.objectContaining({ code: 'ERR_WORLD_LOST' }),
    )
  })
})
