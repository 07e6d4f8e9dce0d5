import { expect, it } from 'vitest'
import { silentLog } from '../../../../src/service/log.js'
import { WorldService } from '../../../../src/service/worlds/world-service.js'
import { begunWorld } from '../../../support/asking-member.js'

const service = () => new WorldService({ tenants: { find: () => ({ id: 'local' }) }, log: silentLog })

it('members of a world split it, meet, free and leave, and nothing remains', async () => {
  const worlds = service()
  const members = await begunWorld(worlds, 3)
  const places = await Promise.all(
    members.map((member, rank) => member.ask('split', { comm: 'world', color: rank % 2, key: -rank })),
  )
  expect(places.map(({ rank, size }) => [rank, size])).toEqual([
    [1, 2],
    [0, 1],
    [0, 2],
  ])
  expect(places[0].comm).toBe(places[2].comm)
  await Promise.all(members.map((member) => member.ask('barrier', { comm: 'world' })))
  await Promise.all(members.map((member, rank) => member.ask('free', { comm: places[rank].comm! })))
  const ended = new Promise<void>((resolve) => {
    worlds.watch({ id: 'local' }, ({ event }) => event === 'worldEnded' && resolve())
  })
  await Promise.all(members.map((member) => member.ask('leave', {})))
  await ended
  expect(worlds.metrics()).toMatchObject({ sockets: 3, worlds: 0, worldsEnded: 1 })
  await worlds.close()
})
