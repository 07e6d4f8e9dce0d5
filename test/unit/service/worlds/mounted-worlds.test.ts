import { expect, it } from 'vitest'
import { mountedWorldInfo, openedWorld } from '../../../../src/client/protocol/mounted-worlds.js'
import { silentLog } from '../../../../src/service/log.js'
import { MountedWorlds } from '../../../../src/service/worlds/mounted-worlds.js'
import { Rendezvous } from '../../../../src/websocket/rendezvous/rendezvous.js'

const ours = { id: 'a'.repeat(32) }
const theirs = { id: 'b'.repeat(32) }

function newWorlds(limits: { worlds?: number; members?: number; ranks?: number } = {}) {
  const lines: string[] = []
  const log = {
    ...silentLog,
    info: (fields: object, text: string) => void lines.push(JSON.stringify([fields, text])),
  }
  const all = { worlds: 2, members: 16, ranks: 1000, ...limits }
  const rendezvous = new Rendezvous()
  const close = (reason = 'over') => rendezvous.close(reason)
  return { worlds: new MountedWorlds({ rendezvous, limits: all, log }), lines, close }
}

it('a world is told with its token once, and is there for its tenant alone', async () => {
  const { worlds, lines, close } = newWorlds()
  const opened = openedWorld.parse(worlds.create(ours, { ranks: 9, processes: 3 }))
  const { token, ...info } = opened
  expect(info).toMatchObject({ ranks: 9, processes: 3, ended: null })
  expect(mountedWorldInfo.parse(worlds.get(ours, info.id))).toEqual(info)
  expect(worlds.list(ours)).toEqual([info])
  expect(worlds.list(theirs)).toEqual([])
  expect(() => worlds.get(theirs, info.id)).toThrow(expect.objectContaining({ code: 'ERR_NOT_FOUND' }))
  await expect(worlds.end(theirs, info.id)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(worlds.open).toBe(1)
  close()
  expect(lines.join()).toContain(info.id)
  expect(lines.join()).not.toContain(token)
})

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
  worlds.create(theirs, { ranks: 2 })
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
