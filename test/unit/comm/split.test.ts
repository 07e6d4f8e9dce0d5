import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import { run } from '../../../src/comm/run.js'
import type { SplitOptions } from '../../../src/comm/split/plan.js'
import { collectiveChecks } from '../../../src/conformance/collective-checks.js'
import type { ExpectedWorld } from '../../../src/conformance/world-case.js'
import { local } from '../../../src/fabric/local.js'
import storm from '../../support/split-storm.js'

const spread: SplitOptions = { table: 'distributed', selfHostRows: 0 }
const fabric = (seed = 1) => local({ processes: 4, seed })

/** An order without closed form. */
const shuffled = (rank: number) => (rank * 7919) % 97

describe('options of split', () => {
  it.each<[SplitOptions, string]>([
    [{ algorithm: 'bubble' as never }, 'ERR_ARGUMENT'],
    [{ table: 'strided' as never }, 'ERR_ARGUMENT'],
    [{ sorters: 0 }, 'ERR_ARGUMENT'],
    [{ sorters: 5 }, 'ERR_ARGUMENT'],
    [{ tableGroup: 1.5 }, 'ERR_ARGUMENT'],
    [{ algorithm: 'merging', table: 'distributed' }, 'ERR_ARGUMENT'],
  ])('%j is %s, before anything is sent', async (options, code) => {
    await run(
      async (world) => {
        await expect(world.split(0, 0, options)).rejects.toMatchObject({ code })
        expect(await world.allreduce(Int32Array.of(1), 'sum')).toEqual(Int32Array.of(16))
      },
      { ranks: 16, fabric: fabric() },
    )
  })

  it('maxTableBytes refuses before anything is allocated', async () => {
    await run(
      async (world) => {
        const refused = world.split(0, 0, { maxTableBytes: 63 })
        await expect(refused).rejects.toMatchObject({ code: 'ERR_TABLE_SIZE' })
        expect((await world.split(0, 0, { maxTableBytes: 64 })).size).toBe(16)
      },
      { ranks: 16, fabric: fabric() },
    )
  })

  it('ranks that ask for different algorithms are told so', async () => {
    const different = run((world) => world.split(0, 0, { sorters: world.rank < 8 ? 2 : 3 }), {
      ranks: 16,
      fabric: fabric(),
    })
    await expect(different).rejects.toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
  })
})

describe('a communicator with a distributed table', () => {
  const withPart = (check: (part: Communicator, world: Communicator) => Promise<void>) =>
    run(
      async (world) => {
        const part = await world.split(0, shuffled(world.rank), spread)
        expect(part.describe().table.kind).toBe('distributed')
        await check(part, world)
      },
      { ranks: 24, fabric: fabric() },
    )
  const order = Array.from({ length: 24 }, (_, rank) => rank).sort((a, b) => shuffled(a) - shuffled(b))

  it('looks ranks up once, many in one message per host', async () => {
    await withPart(async (part) => {
      expect([...(await part.worldRanks(order.map((_, rank) => rank)))]).toEqual(order)
      await part.barrier()
      const before = part.describe().table.lookups!
      expect([...(await part.worldRanks([5, 23, 0]))]).toEqual([order[5], order[23], order[0]])
      const after = part.describe().table.lookups!
      expect(after.asked).toBe(before.asked)
      await expect(part.worldRanks([24])).rejects.toMatchObject({ code: 'ERR_RANK' })
    })
  })

  it('does barrier, dup, split and free without fetching the table', async () => {
    await withPart(async (part) => {
      await part.barrier()
      const copy = await part.dup()
      expect(await part.compare(copy)).toBe('congruent')
      const half = await copy.split(copy.rank % 2, -copy.rank, spread)
      expect(half.rank).toBe(half.size - 1 - Math.floor(copy.rank / 2))
      await part.barrier()
      expect(part.describe().table.kind).toBe('distributed')
      await part.free()
      expect([...(await copy.worldRanks([3]))]).toEqual([order[3]])
      await copy.free()
      const at = (half.rank * 5) % half.size
      const parity = order.indexOf((await half.worldRanks([half.rank]))[0]!) % 2
      const halves = order.filter((_, rank) => rank % 2 === parity).reverse()
      expect([...(await half.worldRanks([at]))]).toEqual([halves[at]])
      await half.free()
    })
  })

  it('answers when hosts have freed theirs', async () => {
    await withPart(async (part, world) => {
      // Every other rank's communicator goes, with all of some processes' uses.
      const kept = await part.split(world.rank < 12 ? 0 : 1, shuffled(world.rank + 1), spread)
      await part.free()
      if (world.rank >= 12) await kept.free()
      await world.barrier()
      if (world.rank < 12) {
        const members = Array.from({ length: 12 }, (_, rank) => rank).sort(
          (a, b) => shuffled(a + 1) - shuffled(b + 1),
        )
        expect([...(await kept.worldRanks(members.map((_, rank) => rank)))]).toEqual(members)
        await kept.free()
      }
    })
  })

  it('gives its group, and makes others of it', async () => {
    await withPart(async (part) => {
      const group = await part.group()
      expect([...(await group.worldRanks())]).toEqual(order)
      const odd = group.rangeIncl([[1, 23, 2]])
      const created = await part.create(odd)
      expect(created === null).toBe(part.rank % 2 === 0)
      expect(await part.allgather(Int32Array.of(part.rank))).toEqual(Int32Array.from(order.keys()))
    })
  })

  it('says how it came about', async () => {
    await withPart(async (part) => {
      const { split, table, processes, ranksHere } = part.describe()
      expect(split).toMatchObject({
        algorithm: 'parallel-sort',
        table: 'distributed',
        sorters: 4,
        tableGroup: 4,
      })
      expect(Object.keys(split!.phases)).toEqual([
        'collect',
        'splitters',
        'exchange',
        'merge',
        'ranks',
        'table',
      ])
      expect({ processes, ranksHere, bytes: table.bytes }).toEqual({ processes: 4, ranksHere: 6, bytes: 24 })
      // A slice of 6 rows and the addresses of 4 hosts.
      expect(table.sharedBytes).toBe(40)
    })
  })
})

describe('every collective as the first on a communicator whose table is spread', () => {
  it.each(collectiveChecks.map(({ name, check }) => ({ name, check })))('$name', async ({ check }) => {
    await run(
      async (world) => {
        const part = await world.split(0, shuffled(world.rank), spread)
        await check(part, { seed: 1, rounds: 1, largeBytes: 0, expected: { ranks: 11 } as ExpectedWorld })
        await part.free()
      },
      { ranks: 11, fabric: fabric(5) },
    )
  })
})

describe('storms of nested splits', () => {
  it.each([1, 2])('leave no communicator and no table behind, seed %d', async (seed) => {
    const calm = await run(storm, { ranks: 13, fabric: fabric(seed), args: { cycles: 40, seed } })
    expect(calm).toEqual(calm.map(() => ({ contexts: 0, tables: 0 })))
  })
})
