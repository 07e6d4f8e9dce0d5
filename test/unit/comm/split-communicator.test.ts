import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import { local } from '../../../src/fabric/local/local.js'
import { run } from '../../../src/launch/run.js'
import { inWorlds, membersOf, talk } from '../../support/in-worlds.js'

describe('split', () => {
  it('makes one communicator per color, ordered by key, ties by rank', () =>
    inWorlds(async (world) => {
      const colorOf = (rank: number) => rank % 3
      const keyOf = (rank: number) => [0, -5, 2 ** 31 - 1, -(2 ** 31), 0][rank % 5]
      const part = await world.split(colorOf(world.rank), keyOf(world.rank))
      const expected = [...Array(world.size).keys()]
        .filter((rank) => colorOf(rank) === colorOf(world.rank))
        .sort((a, b) => keyOf(a) - keyOf(b) || a - b)
      expect(await membersOf(part)).toEqual(expected)
      expect(expected[part.rank]).toBe(world.rank)
      await talk(part, 100 + colorOf(world.rank))
    }))

  it('returns null to ranks without a color, even if none has one', () =>
    inWorlds(async (world) => {
      const odd = await world.split(world.rank % 2 === 1 ? 0 : null)
      expect(odd === null).toBe(world.rank % 2 === 0)
      if (odd !== null) expect(odd.size).toBe(Math.floor(world.size / 2))
      expect(await world.split(null)).toBeNull()
    }))

  it('accepts the least and the greatest color, and one color per rank', () =>
    inWorlds(async (world) => {
      const part = await world.split(2 ** 31 - 1 - world.rank, 7)
      expect([part.rank, part.size]).toEqual([0, 1])
      await talk(part, world.rank)
    }))

  it('can be applied to its own results', () =>
    inWorlds(async (world) => {
      const reversed = await world.split(0, -world.rank)
      const half = await reversed.split(reversed.rank < world.size / 2 ? 1 : 0, -reversed.rank)
      const expected = [...Array(world.size).keys()].filter(
        (rank) => world.size - 1 - rank < world.size / 2 === reversed.rank < world.size / 2,
      )
      expect(await membersOf(half)).toEqual(expected)
      await talk(half, 5)
    }))

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
      await expect(run(main, { ranks: 2, processes })).rejects.toMatchObject({
        code: 'ERR_COLLECTIVE_MISMATCH',
      })
    }
  })

  it.each([1, 8])('makes 1,000 communicators of 100,000 ranks on %i processes', async (processes) => {
    const ranks = 100_000
    const parts = await run(
      async (world) => {
        const part = await world.split(world.rank % 1_000, -world.rank)
        return part.rank === 99 - Math.floor(world.rank / 1_000) && part.size === 100
      },
      { ranks, processes },
    )
    expect(parts.every(Boolean)).toBe(true)
  })
})

describe('splitType', () => {
  it('makes one communicator per node', async () => {
    const fabric = local({ ranksPerProcess: [2, 1, 0, 3, 1], nodes: ['a', 'b', 'c', 'a', 'b'] })
    const members = await run(
      async (world) => membersOf(await world.splitType('node', world.rank === 5 ? -1 : 0)),
      {
        ranks: 7,
        fabric,
      },
    )
    const [a, b] = [
      [5, 0, 1, 3, 4],
      [2, 6],
    ]
    expect(members).toEqual([a, a, b, a, a, a, b])
  })

  it('rejects any type but node', async () => {
    await run(
      (world) => expect(world.splitType('socket' as 'node')).rejects.toMatchObject({ code: 'ERR_ARGUMENT' }),
      { ranks: 2 },
    )
  })
})
