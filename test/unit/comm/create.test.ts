import { describe, expect, it } from 'vitest'
import { Group } from '../../../src/comm/table/group.js'
import { contextsOf, inWorlds, membersOf, talk } from '../../support/in-worlds.js'

describe('create', () => {
  it('makes a communicator per disjoint group, and none for empty groups', () =>
    inWorlds(async (world) => {
      const all = await world.group()
      const kind = world.rank % 3
      const members = [...Array(world.size).keys()].filter((rank) => rank % 3 === kind)
      const part = await world.create(kind === 2 ? Group.EMPTY : all.incl(members))
      if (kind === 2) expect(part).toBeNull()
      else expect(await membersOf(part!)).toEqual(members)
      expect(await world.create(Group.EMPTY)).toBeNull()
    }))

  it('rejects a group with ranks outside the communicator before sending', () =>
    inWorlds(async (world) => {
      const lonely = await world.split(world.rank)
      if (world.size > 1) {
        await expect(lonely.create(await world.group())).rejects.toMatchObject({ code: 'ERR_GROUP' })
      }
      await expect(world.create([0] as unknown as Group)).rejects.toMatchObject({ code: 'ERR_GROUP' })
      expect((await world.create(await world.group()))!.size).toBe(world.size)
    }))

  it('rejects on all ranks when members pass different groups; the communicator remains usable', () =>
    inWorlds(async (world) => {
      if (world.size < 2) return
      const all = await world.group()
      const mine = world.rank === 1 ? all.incl([1]) : all.incl([0, 1])
      await expect(world.create(mine)).rejects.toMatchObject({ code: 'ERR_GROUP' })
      await talk(world, 4)
      expect(contextsOf(world)).toBe(1)
    }))
})
