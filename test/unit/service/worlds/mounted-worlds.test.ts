import { expect, it } from 'vitest'
import { MountedWorlds } from '../../../../src/service/worlds/mounted-worlds.js'
import { Rendezvous } from '../../../../src/websocket/rendezvous/rendezvous.js'
import { silentLog } from '../../../support/silent-log.js'

const ours = { id: 'a'.repeat(32) }
const theirs = { id: 'b'.repeat(32) }

function newWorlds(limits: { worlds?: number; members?: number; ranks?: number } = {}) {
  const all = { worlds: 2, members: 16, ranks: 1000, ...limits }
  const rendezvous = new Rendezvous()
  const close = (reason = 'over') => rendezvous.close(reason)
  return { worlds: new MountedWorlds({ rendezvous, limits: all, log: silentLog }), close }
}

it('a tenant has so many running worlds, and sees so many that have ended', async () => {
  const { worlds, close } = newWorlds()
  const ids = []
  for (let round = 0; round < 5; round++) {
    const { id } = worlds.create(ours, { ranks: 2 })
    ids.push(id)
    expect(await worlds.end(ours, id)).toMatchObject({ ended: { lost: [], closed: 'its owner closed it' } })
    // One that has ended stays unchanged.
    expect((await worlds.end(ours, id)).ended).not.toBeNull()
  }
  const open = [worlds.create(ours, { ranks: 2 }), worlds.create(ours, { ranks: 2 })]
  expect(() => worlds.create(ours, { ranks: 2 })).toThrow(expect.objectContaining({ code: 'ERR_BUSY' }))
  const { id } = worlds.create(theirs, { ranks: 2 })
  expect(() => worlds.get(ours, id)).toThrow(expect.objectContaining({ code: 'ERR_NOT_FOUND' }))
  await expect(worlds.end(ours, id)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(worlds.open).toBe(3)
  expect(worlds.list(ours).map(({ id }) => id)).toEqual([...ids.slice(-2), ...open.map(({ id }) => id)])
  close()
  await Promise.resolve()
  expect(worlds.list(theirs)).toMatchObject([{ ended: { closed: 'over' } }])
  expect(worlds.open).toBe(0)
})

it('numbers beyond the limits, and numbers that do not agree, are refused', () => {
  const { worlds, close } = newWorlds()
  for (const [request, code] of [
    [{ ranks: 1001, processes: 2 }, 'ERR_LIMIT'],
    [{ ranks: 100, processes: 17 }, 'ERR_LIMIT'],
    [{ ranks: 100 }, 'ERR_LIMIT'],
    [{ ranks: 4, processes: 0 }, 'ERR_WORLD'],
  ] as const)
    expect(() => worlds.create(ours, request), JSON.stringify(request)).toThrow(
      expect.objectContaining({ code }),
    )
  close()
  expect(() => worlds.create(ours, { ranks: 2 })).toThrow(expect.objectContaining({ code: 'ERR_WORLD_LOST' }))
})
