import { type ClientSocket, WorldMember } from 'rankweave/client'
import { expect, it } from 'vitest'
import { RankweaveError } from '../../../src/errors.js'
import { WorldService } from '../../../src/service/worlds/world-service.js'
import { MemorySocket } from '../../support/memory-socket.js'
import { silentLog } from '../../support/silent-log.js'

const token = 'a'.repeat(32)

function makeService() {
  const find = (given: string | undefined) => {
    if (given === token) return { id: 'ours' }
    throw new RankweaveError('ERR_TOKEN', 'unknown token')
  }
  return new WorldService({ tenants: { find }, log: silentLog })
}

/** A socket to something that accepts one; it is open in the next turn. */
function socketTo(accept: (other: MemorySocket) => void): MemorySocket {
  const [own, other] = MemorySocket.pair()
  accept(other)
  setImmediate(() => own.emit('open', {}))
  return own
}

const connectTo = (service: WorldService, given = token) =>
  WorldMember.connect({
    url: 'https://host.example/some/page',
    token: given,
    webSocket: (url) => {
      expect(url).toBe('wss://host.example/v1/worlds')
      return socketTo((other) => service.accept(other, 'memory'))
    },
  })

/** Members of one world, by rank, and what closes their sockets without a word. */
async function begun(service: WorldService, members: number) {
  const all = await Promise.all(Array.from({ length: members }, () => connectTo(service)))
  const places = await Promise.all(
    all.map((member, i) => member.join({ name: 'solver', members, address: `host${i}` })),
  )
  const byRank = places
    .map((place, i) => ({ place, member: all[i] }))
    .sort((a, b) => a.place.rank - b.place.rank)
  expect(byRank.map(({ place }) => [place.rank, place.size, place.comm])).toEqual(
    byRank.map((_, rank) => [rank, members, 'world']),
  )
  return byRank.map(({ member }) => member)
}

const code = (expected: string) => expect.objectContaining({ name: 'RankweaveError', code: expected })

it('members split, duplicate, create, translate, meet, look each other up and free', async () => {
  const service = makeService()
  const members = await begun(service, 4)
  expect(members[0].limits['maxCallsInFlight']).toBe(64)
  expect(members[0].version).toMatch(/^\d+\./)
  const all = <T>(call: (member: WorldMember, rank: number) => Promise<T>) => Promise.all(members.map(call))

  const halves = await all((member, rank) => member.split('world', rank === 3 ? null : rank % 2, -rank))
  expect(halves.map((half) => half && [half.rank, half.size])).toEqual([[1, 2], [0, 1], [0, 2], null])
  const half = halves[0]!.comm
  expect(await members[0].translate(half, [0, 1])).toEqual([2, 0])
  expect(await members[0].translate('world', [1, 2], half)).toEqual([null, 0])
  const copies = await all((member) => member.dup('world'))
  expect(copies.map(({ rank, size }) => [rank, size])).toEqual([0, 1, 2, 3].map((rank) => [rank, 4]))
  const created = await all((member, rank) => member.create('world', rank === 0 ? [] : [3, 1, 2]))
  expect(created.map((each) => each?.rank ?? null)).toEqual([null, 1, 2, 0])
  expect(await members[1].describe(created[1]!.comm)).toMatchObject({
    operation: 'create',
    rank: 1,
    size: 3,
  })
  await members[2].publish('10.0.0.2:7000')
  expect(await members[0].lookup(half, 0)).toEqual({ worldRank: 2, address: '10.0.0.2:7000' })
  await all((member) => member.barrier('world'))
  await all((member, rank) => member.free(copies[rank].comm))
  await expect(members[0].barrier(copies[0].comm)).rejects.toEqual(code('ERR_NOT_FOUND'))
  await expect(members[0].split('world', -1)).rejects.toEqual(code('ERR_PROTOCOL'))
  await expect(members[0].join({ name: 'other' })).rejects.toEqual(code('ERR_WORLD'))
  await all((member) => member.leave())
  await all((member) => member.close())
  expect(await members[0].closed).toBe(null)
  await expect(members[0].barrier('world')).rejects.toEqual(code('ERR_SERVICE'))
  await service.close()
})

it('a loss is pushed, fails what needs the member, and is survived by agreeing and shrinking', async () => {
  const service = makeService()
  const [first, second, third] = (await begun(service, 3)) as [WorldMember, WorldMember, WorldMember]
  const told: unknown[] = []
  const lost = new Promise<void>((resolve) => {
    first.on('member', ({ rank, state }) => {
      told.push([rank, state])
      resolve()
    })
  })
  const meeting = first.barrier('world')
  void third.close()
  await expect(meeting).rejects.toEqual(code('ERR_PEER_LOST'))
  await lost
  expect(told).toEqual([[2, 'lost']])
  expect(await first.failed('world')).toEqual([2])
  const flags = await Promise.allSettled([first.agree('world', 6), second.agree('world', 3)])
  for (const each of flags)
    expect(each).toMatchObject({ reason: { code: 'ERR_PEER_LOST', details: { flag: 2 } } })
  expect(await first.ackFailed('world')).toBe(1)
  await first.revoke('world')
  const shrunk = await Promise.all([first.shrink('world'), second.shrink('world')])
  expect(shrunk.map(({ rank, size }) => [rank, size])).toEqual([
    [0, 2],
    [1, 2],
  ])
  await Promise.all([first, second].map((member, rank) => member.barrier(shrunk[rank].comm)))
  await service.close()
  expect(await first.closed).toBeInstanceOf(RankweaveError)
})

it('worlds are watched as they change', async () => {
  const service = makeService()
  const watching = await connectTo(service)
  const member = await connectTo(service)
  const { world, token: ofWorld } = await watching.createWorld({ members: 2, name: 'seen' })
  expect(ofWorld).toBeNull()
  expect(await watching.watch()).toMatchObject([{ id: world, name: 'seen', state: 'waiting', joined: 0 }])
  const changed = new Promise((resolve) => watching.on('world', ({ world: info }) => resolve(info.joined)))
  const waiting = member.join({ world })
  expect(await changed).toBe(1)
  await expect(member.join({ world })).rejects.toEqual(code('ERR_WORLD'))
  await Promise.all([member.leave(), expect(waiting).rejects.toEqual(code('ERR_WORLD_ENDED'))])
  expect(await watching.createWorld({ members: 1, programs: 2 })).toMatchObject({
    token: expect.stringMatching(/^[0-9a-f]{16}\.[0-9a-f]{32}$/),
  })
  await expect(watching.createWorld({ members: 1_000, programs: 25 })).rejects.toEqual(code('ERR_WORLD'))
  await Promise.all([member.close(), watching.close()])
  await service.close()
})

it('whoever is refused, or loses the connection, is told why by everything that waits', async () => {
  const service = makeService()
  await expect(connectTo(service, 'wrong')).rejects.toEqual(code('ERR_TOKEN'))
  const member = await connectTo(service)
  const waiting = member.join({ name: 'never', members: 2 })
  await service.close()
  await expect(waiting).rejects.toBeInstanceOf(RankweaveError)
  await expect(member.watch()).rejects.toBeInstanceOf(RankweaveError)

  const nobody = (): ClientSocket => {
    const [own] = MemorySocket.pair()
    setImmediate(() => own.ended(1006, ''))
    return own
  }
  const connect = WorldMember.connect({ url: 'http://127.0.0.1:9', webSocket: nobody })
  await expect(connect).rejects.toEqual(code('ERR_SERVICE'))

  // Sockets of Node 22 that never open have an error, and no end.
  const refused = (): ClientSocket => ({
    send() {},
    close() {},
    addEventListener(type: string, listener: (event: never) => void) {
      if (type === 'error') setImmediate(listener, { message: 'out of order' } as never)
    },
  })
  await expect(WorldMember.connect({ url: 'http://127.0.0.1:9', webSocket: refused })).rejects.toThrow(
    'no service at http://127.0.0.1:9: out of order',
  )

  for (const answer of ['{', '[]', '{"reply":7}', '{"reply":"1"}', new Uint8Array(3)]) {
    const odd = () =>
      socketTo((other) => other.addEventListener('message', () => other.send(answer as string)))
    const greeted = WorldMember.connect({ url: 'http://127.0.0.1:9', webSocket: odd })
    await expect(greeted, String(answer)).rejects.toEqual(code('ERR_PROTOCOL'))
  }
})

it.each([
  [undefined],
  [{}],
  [{ url: 'ws://127.0.0.1' }],
  [{ url: 'http://127.0.0.1', token: '' }],
  [{ url: 'http://127.0.0.1', webSocket: 1 }],
  [{ url: 'http://127.0.0.1', webSockets: () => {} }],
])('options %j are refused', async (options) => {
  await expect(WorldMember.connect(options as never)).rejects.toEqual(code('ERR_ARGUMENT'))
})

it('a message that is longer than the service takes ends the connection with its code', async () => {
  const service = makeService()
  let socket: MemorySocket | undefined
  const member = await WorldMember.connect({
    url: 'http://host.example',
    token,
    webSocket: () => {
      socket = socketTo((other) => service.accept(other, 'memory'))
      return socket
    },
  })
  const waiting = member.publish('x')
  socket!.ended(1009, '')
  await expect(waiting).rejects.toEqual(code('ERR_MESSAGE_TOO_LARGE'))
  await service.close()
})
