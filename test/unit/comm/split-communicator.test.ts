import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { inWorlds, membersOf, talk } from '../../support/in-worlds.js'
import { codeOf, onRanks } from '../../support/on-ranks.js'

describe('split', () => {
  it('runs concurrently with other splits and collectives', () =>
    inWorlds(async (world) => {
      const [a, , b, c] = await Promise.all([
        world.split(world.rank % 2),
        world.barrier(),
        world.split(world.rank % 2, -world.rank),
        world.dup(),
      ])
      expect(await a.compare(b)).toBe(a.size === 1 ? 'congruent' : 'similar')
      await Promise.all([talk(a, 1), talk(b, 2), talk(c, 3)])
    }))

  it('rejects invalid colors and keys before sending', () =>
    inWorlds(async (world) => {
      for (const color of [-1, 0.5, 2 ** 31, Number.NaN, undefined as unknown as number]) {
        await expect(world.split(color)).rejects.toMatchObject({ code: 'ERR_COLOR' })
      }
      for (const key of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN, null as unknown as number]) {
        await expect(world.split(0, key)).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
      }
      expect((await world.split(0)).size).toBe(world.size)
    }))

  it('rejects with ERR_COLLECTIVE_MISMATCH when a rank makes another call', async () => {
    const main = async (world: Communicator) => {
      await (world.rank === 1 ? world.dup() : world.split(0))
    }
    for (const processes of [1, 2]) {
      expect(await codeOf(run(main, { ranks: 2, processes }))).toBe('ERR_COLLECTIVE_MISMATCH')
    }
  })

  it.each([
    [50_000, 1],
    [10_000, 8],
  ])('makes 1,000 communicators of %i ranks on %i processes', async (ranks, processes) => {
    const parts = await onRanks({ ranks, processes }, async (world) => {
      const part = await world.split(world.rank % 1_000, -world.rank)
      return part.rank === part.size - 1 - Math.floor(world.rank / 1_000) && part.size === ranks / 1_000
    })
    expect(parts.every(Boolean)).toBe(true)
  })
})

describe('splitType', () => {
  it('makes one communicator per node', async () => {
    const fabric = local({ ranksPerProcess: [2, 1, 0, 3, 1], nodes: ['a', 'b', 'c', 'a', 'b'] })
    const members = await onRanks(
      {
        ranks: 7,
        fabric,
      },
      async (world) => membersOf(await world.splitType('node', world.rank === 5 ? -1 : 0)),
    )
    const [a, b] = [
      [5, 0, 1, 3, 4],
      [2, 6],
    ]
    expect(members).toEqual([a, a, b, a, a, a, b])
  })

  it('rejects any type but node', async () => {
    await onRanks({ ranks: 2 }, (world) =>
      expect(world.splitType('socket' as 'node')).rejects.toMatchObject({ code: 'ERR_ARGUMENT' }),
    )
  })
})
