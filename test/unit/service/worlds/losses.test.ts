import { expect, it } from 'vitest'
import type { WorldService } from '../../../../src/service/worlds/world-service.js'
import { type AskingMember, askAll, begunWorld, worldService } from '../../../support/asking-member.js'

const tenant = { id: 'local' }
const all = <T>(members: readonly AskingMember[], call: (member: AskingMember, rank: number) => Promise<T>) =>
  Promise.all(members.map(call))

/** Resolves when a world of the service has ended. */
const oneEnds = (worlds: WorldService) =>
  new Promise<void>((resolve) => {
    worlds.watch(tenant, ({ event }) => event === 'worldEnded' && resolve())
  })

it('a lost member fails pending calls of its communicators, and of no other; the survivors shrink', async () => {
  const worlds = worldService()
  const members = await begunWorld(worlds, 4)
  const places = await all(members, (member, rank) =>
    member.ask('split', { comm: 'world', color: rank === 3 || rank === 2 ? 1 : 0 }),
  )
  const survivors = members.slice(0, 3)
  const pending = all(survivors, (member) =>
    member.ask('barrier', { comm: 'world' }).catch((error: { code: string }) => error.code),
  )
  const half = members[2].ask('barrier', { comm: places[2].comm! }).catch((error) => error.code)
  members[3].socket.terminate()
  expect(await pending).toEqual(['ERR_PEER_LOST', 'ERR_PEER_LOST', 'ERR_PEER_LOST'])
  expect(await half).toBe('ERR_PEER_LOST')
  expect(await survivors[0].event('member')).toMatchObject({ rank: 3, state: 'lost' })
  // A communicator without the lost one continues.
  await Promise.all([0, 1].map((rank) => members[rank].ask('barrier', { comm: places[rank].comm! })))
  expect(await survivors[0].ask('failed', { comm: 'world' })).toEqual({ ranks: [3] })
  expect(await survivors[0].ask('ackFailed', { comm: 'world' })).toEqual({ acknowledged: 1 })
  const shrunk = await askAll(survivors, 'shrink', { comm: 'world' })
  expect(shrunk.map(({ rank, size }) => [rank, size])).toEqual([
    [0, 3],
    [1, 3],
    [2, 3],
  ])
  const comm = shrunk[0].comm!
  expect(await all(survivors, (member, rank) => member.ask('agree', { comm, flag: 7 - rank }))).toEqual([
    { flag: 4 },
    { flag: 4 },
    { flag: 4 },
  ])
  expect(worlds.list(tenant)[0]).toMatchObject({ state: 'running', lost: [3], left: [] })
  const ended = oneEnds(worlds)
  await askAll(survivors, 'leave', {})
  await ended
  expect(worlds.list(tenant)).toEqual([])
  expect(worlds.metrics()).toMatchObject({ sockets: 3, worlds: 0, worldsEnded: 1 })
})

it('a member that leaves fails only calls that it took no part in', async () => {
  const worlds = worldService()
  const [first, second, third] = await begunWorld(worlds, 3)
  for (let round = 0; round < 5; round++) {
    await askAll([first, second, third], 'barrier', { comm: 'world' })
  }
  const barriers = [first, second].map((member) => member.ask('barrier', { comm: 'world' }))
  // It asks for both at once.
  const last = third.ask('barrier', { comm: 'world' })
  const left = third.ask('leave', {})
  await Promise.all([...barriers, left])
  await last.catch(() => {})
  await expect(first.ask('barrier', { comm: 'world' })).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
})

it('revoke fails pending calls of the communicator, and the world continues', async () => {
  const worlds = worldService()
  const members = await begunWorld(worlds, 2)
  const [{ comm }] = (await askAll(members, 'dup', { comm: 'world' })) as [{ comm: string }, unknown]
  const pending = members[0].ask('barrier', { comm }).catch((error) => error.code)
  await members[1].ask('revoke', { comm })
  expect(await pending).toBe('ERR_REVOKED')
  await askAll(members, 'free', { comm })
  await askAll(members, 'barrier', { comm: 'world' })
  await worlds.close()
  for (const member of members) expect(await member.event('ended')).toMatchObject({ event: 'ended' })
})

it('a split that its member leaves behind fails there, rather than to say that it is in none', async () => {
  const worlds = worldService()
  const [first, second] = (await begunWorld(worlds, 2)) as [AskingMember, AskingMember]
  const split = first.ask('split', { comm: 'world', color: 0 })
  const left = first.ask('leave', {})
  const other = second.ask('split', { comm: 'world', color: 0 }).catch(() => {})
  await expect(split).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
  await Promise.all([left, other])
})
