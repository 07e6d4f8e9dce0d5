import { afterAll, beforeAll, expect, it } from 'vitest'
import { isRankweaveError } from '../../../../src/errors.js'
import type { Communicator } from '../../../../src/handles/communicator.js'
import { join } from '../../../../src/launch/websocket/join.js'
import { listenRendezvous } from '../../../../src/launch/websocket/rendezvous.js'
import { ownVersion } from '../../../../src/package-paths.js'
import { WorldService } from '../../../../src/service/worlds/world-service.js'
import { joinWorld } from '../../../../src/websocket/rendezvous/join-world.js'
import type { SocketListener } from '../../../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../../../src/websocket/socket/transport-nodejs.js'
import { AskingMember, askAll } from '../../../support/asking-member.js'
import { silentLog } from '../../../support/silent-log.js'

const tenant = { id: 'local' }
const service = new WorldService({ tenants: { find: () => tenant }, log: silentLog })
let listener: SocketListener
beforeAll(async () => {
  listener = await listenRendezvous(service.rendezvous)
})
afterAll(async () => {
  await service.close()
  await listener.close()
})

/** A process that runs a program. */
const runs = <T>(token: string, main: (world: Communicator) => Promise<T>) =>
  join(main, { url: listener.url, token, program: 'digest' })

/** Members that have joined a world that waits for programs. */
async function waitingWorld(members: number, programs: number) {
  const all = await Promise.all(Array.from({ length: members }, () => AskingMember.greeted(service)))
  const { world, token } = await all[0].ask('createWorld', { members, programs })
  for (const member of all) await member.ask('join', { world })
  return { world, token: token!, all: all as [AskingMember, AskingMember] }
}

const oneEnds = () =>
  new Promise<void>((resolve) => {
    const stop = service.watch(tenant, ({ event }) => {
      if (event !== 'worldEnded') return
      stop()
      resolve()
    })
  })

it('two members that ask and two programs split, meet, and the programs reduce among themselves', async () => {
  const { token, all } = await waitingWorld(2, 2)
  expect(service.list(tenant)).toMatchObject([{ state: 'waiting', members: 2, programs: 2, joined: 2 }])
  const programs = [0, 1].map(() =>
    runs(token, async (world) => {
      const part = await world.split(1)
      await world.barrier()
      const [sum] = await part.allreduce(Float64Array.of(world.rank), 'sum')
      await part.free()
      return [world.rank, world.size, part.size, sum]
    }),
  )
  const begun = await Promise.all(all.map((member) => member.event('begun')))
  expect(begun.map(({ rank, size }) => [rank, size])).toEqual([
    [0, 4],
    [1, 4],
  ])
  const places = await askAll(all, 'split', { comm: 'world', color: 0 })
  expect(places.map(({ rank, size }) => [rank, size])).toEqual([
    [0, 2],
    [1, 2],
  ])
  const comm = places[0].comm!
  const among = all.map((member) => member.ask('barrier', { comm }))
  await Promise.all([...among, ...all.map((member) => member.ask('barrier', { comm: 'world' }))])
  expect(service.list(tenant)).toMatchObject([
    {
      state: 'running',
      communicators: [
        { id: 'world', size: 4, worldRanks: [0, 1] },
        { id: comm, size: 2 },
      ],
    },
  ])
  await askAll(all, 'free', { comm })
  const ended = oneEnds()
  // Those who leave have returned: the programs continue.
  await askAll(all, 'leave', {})
  const joined = await Promise.all(programs)
  expect(joined.flatMap(({ results }) => results).sort()).toEqual([
    [2, 4, 2, 5],
    [3, 4, 2, 5],
  ])
  await ended
  expect(service.list(tenant)).toEqual([])
})

it('what a program sends to members waits, and is counted', async () => {
  const nothing = { messages: 0, bytes: 0, longest: 0 }
  const { token, all } = await waitingWorld(2, 1)
  const program = runs(token, async (world) => {
    for (const dest of [0, 0, 0, 1]) await world.send(new Uint8Array(100), dest, 7)
    for (let call = 0; call < 2; call++) await world.barrier()
  })
  await Promise.all(all.map((member) => member.event('begun')))
  expect(service.waiting().longest).toBeLessThanOrEqual(3)
  // The second is complete when all has arrived that was sent before the first.
  for (let call = 0; call < 2; call++) await askAll(all, 'barrier', { comm: 'world' })
  expect(service.waiting()).toEqual({ messages: 4, bytes: 400, longest: 3 })
  const ended = oneEnds()
  await askAll(all, 'leave', {})
  await program
  await ended
  expect(service.waiting()).toEqual(nothing)
})

it('a member is lost to the programs too, and all who live shrink the world', async () => {
  const { token, all } = await waitingWorld(2, 1)
  const [first, second] = all
  const program = runs(token, async (world) => {
    const code = await world.barrier().catch((error) => isRankweaveError(error) && error.code)
    await world.ackFailed()
    const rest = await world.shrink()
    await rest.barrier()
    return [code, rest.rank, rest.size]
  })
  await first.event('begun')
  const pending = first.ask('barrier', { comm: 'world' })
  second.socket.terminate()
  await expect(pending).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
  expect(await first.event('member')).toMatchObject({ rank: 1, state: 'lost' })
  expect(await first.ask('failed', { comm: 'world' })).toEqual({ ranks: [1] })
  expect(await first.ask('ackFailed', { comm: 'world' })).toEqual({ acknowledged: 1 })
  const { comm, rank, size } = await first.ask('shrink', { comm: 'world' })
  expect([rank, size]).toEqual([0, 2])
  await first.ask('barrier', { comm: comm! })
  const ended = oneEnds()
  await first.ask('leave', {})
  expect((await program).results).toEqual([['ERR_PEER_LOST', 1, 2]])
  await ended
})

it('a program that fails ends the world of the members', async () => {
  const { token, all } = await waitingWorld(2, 1)
  const program = runs(token, async () => {
    throw new RangeError('too far')
  })
  await expect(program).rejects.toThrow('too far')
  for (const member of all) {
    expect(await member.event('ended')).toMatchObject({
      error: { message: expect.stringContaining('too far') },
    })
    await expect(member.ask('barrier', { comm: 'world' })).rejects.toMatchObject({ code: 'ERR_WORLD_ENDED' })
    await expect(member.ask('failed', { comm: 'world' })).rejects.toMatchObject({ code: 'ERR_WORLD_ENDED' })
  }
})

it('a member that goes while programs are awaited frees its place; a world that no member waits for is closed', async () => {
  const { world, token, all } = await waitingWorld(2, 1)
  const [first, second] = all
  await second.ask('leave', {})
  expect(service.list(tenant)).toMatchObject([{ state: 'waiting', joined: 1 }])
  await second.ask('join', { world })
  const third = await AskingMember.greeted(service)
  await expect(third.ask('join', { world })).rejects.toMatchObject({ code: 'ERR_WORLD_FULL' })
  second.socket.terminate()
  await second.whenClosed()
  await third.ask('join', { world })
  const begun = runs(token, (inWorld) => inWorld.barrier())
  expect((await third.event('begun')).rank).toBe(1)
  await askAll([first, third], 'barrier', { comm: 'world' })
  await askAll([first, third], 'leave', {})
  await begun

  const creator = await AskingMember.greeted(service)
  const made = await creator.ask('createWorld', { members: 1, programs: 1 })
  const waits = runs(made.token!, (inWorld) => inWorld.barrier())
  creator.socket.terminate()
  await expect(waits).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_(WORLD_LOST|TOKEN)$/) })
})

it('a program that sends what is no frame is lost itself, and the members continue', async () => {
  const { token, all } = await waitingWorld(2, 1)
  const program = await joinWorld({
    ...{ url: listener.url, token, program: 'none', version: ownVersion(), node: 'away', listenUrl: null },
    transport: nodeTransport({ maxMessageBytes: 2 ** 21 }),
  })
  await Promise.all(all.map((member) => member.event('begun')))
  const pending = all.map((member) => member.ask('barrier', { comm: 'world' }))
  program.relay(0, new Uint8Array(1_000).fill(1))
  for (const call of pending) await expect(call).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
  for (const member of all) {
    expect(await member.event('member')).toMatchObject({
      ...{ rank: 2, state: 'lost', reason: expect.stringContaining('ERR_PROTOCOL') },
    })
  }
  await askAll(all, 'ackFailed', { comm: 'world' })
  const shrunk = await askAll(all, 'shrink', { comm: 'world' })
  expect(shrunk.map(({ size }) => size)).toEqual([2, 2])
  const ended = oneEnds()
  await askAll(all, 'leave', {})
  await ended
})
