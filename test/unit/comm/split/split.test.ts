import { type Communicator, local, run, type SplitOptions } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { collectiveChecks } from '../../../../src/conformance/collective-checks.js'
import type { ExpectedWorld } from '../../../../src/conformance/world-case.js'
import { coded, codeOf, onRanks } from '../../../support/on-ranks.js'
import storm from '../../../support/split-storm.js'

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
    [{ tablegroup: 1 } as SplitOptions, 'ERR_ARGUMENT'],
    [{ algorithm: 'merging', table: 'distributed' }, 'ERR_ARGUMENT'],
  ])('%j rejects with %s before sending', async (options, code) => {
    await onRanks({ ranks: 16, fabric: fabric() }, async (world) => {
      await expect(world.split(0, 0, options)).rejects.toMatchObject({ code })
      expect(await world.allreduce(Int32Array.of(1), 'sum')).toEqual(Int32Array.of(16))
    })
  })

  it('maxTableBytes rejects before anything is allocated', async () => {
    await onRanks({ ranks: 16, fabric: fabric() }, async (world) => {
      const refused = world.split(0, 0, { maxTableBytes: 63 })
      await expect(refused).rejects.toEqual(
        coded(
          'ERR_TABLE_SIZE',
          expect.stringContaining("or a 'distributed' table over a larger tableGroup, takes less"),
        ),
      )
      const least = { table: 'distributed', selfHostRows: 0, maxTableBytes: 1 } as const
      await expect(world.split(0, 0, least)).rejects.toMatchObject({
        message: expect.stringContaining('no table takes less on so many processes'),
      })
      expect((await world.split(0, 0, { maxTableBytes: 64 })).size).toBe(16)
    })
  })

  it('ranks that pass different algorithms get ERR_COLLECTIVE_MISMATCH', async () => {
    const different = run((world) => world.split(0, 0, { sorters: world.rank < 8 ? 2 : 3 }), {
      ranks: 16,
      fabric: fabric(),
    })
    await expect(different).rejects.toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
  })
})

describe('a communicator with a distributed table', () => {
  const withPart = (check: (part: Communicator, world: Communicator) => Promise<void>) =>
    onRanks({ ranks: 24, fabric: fabric() }, async (world) => {
      const part = await world.split(0, shuffled(world.rank), spread)
      expect(part.describe().table.kind).toBe('distributed')
      await check(part, world)
    })
  const order = Array.from({ length: 24 }, (_, rank) => rank).sort((a, b) => shuffled(a) - shuffled(b))

  it('looks up each rank once, with one message per host', async () => {
    await withPart(async (part) => {
      expect([...(await part.worldRanks(order.map((_, rank) => rank)))]).toEqual(order)
      await part.barrier()
      const before = part.describe().table.lookups!
      expect([...(await part.worldRanks([5, 23, 0]))]).toEqual([order[5], order[23], order[0]])
      const after = part.describe().table.lookups!
      expect(after.asked).toBe(before.asked)
      await expect(part.worldRanks([24])).rejects.toMatchObject({ code: 'ERR_RANK' })
      for (const none of [null, undefined, 5, { length: -1 }]) {
        expect(await codeOf(part.worldRanks(none as never))).toBe('ERR_ARGUMENT')
      }
    })
  })

  it('runs barrier, dup, split and free without fetching the table', async () => {
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
      const parity = order.indexOf((await half.worldRanks([half.rank]))[0]) % 2
      const halves = order.filter((_, rank) => rank % 2 === parity).reverse()
      expect([...(await half.worldRanks([at]))]).toEqual([halves[at]])
      await half.free()
    })
  })

  it('returns its group, from which create makes others', async () => {
    await withPart(async (part) => {
      const group = await part.group()
      expect([...(await group.worldRanks())]).toEqual(order)
      const odd = group.rangeIncl([[1, 23, 2]])
      const created = await part.create(odd)
      expect(created === null).toBe(part.rank % 2 === 0)
      expect(await part.allgather(Int32Array.of(part.rank))).toEqual(Int32Array.from(order.keys()))
    })
  })

  it('describes the split that made it', async () => {
    await withPart(async (part) => {
      const { split, table, processes, ranksHere } = part.describe()
      expect(split).toMatchObject({
        ...{ algorithm: 'parallel-sort', table: 'distributed', sorters: 4, tableGroup: 4 },
      })
      expect(Object.keys(split!.phases).join(' ')).toBe('collect splitters exchange merge ranks table')
      expect({ processes, ranksHere, bytes: table.bytes }).toEqual({ processes: 4, ranksHere: 6, bytes: 24 })
      // A slice of 6 rows: which process serves a slice follows from its number.
      expect(table.sharedBytes).toBe(24)
    })
  })
})

describe('every collective as the first on a communicator with a distributed table', () => {
  it.each(collectiveChecks.map(({ name, check }) => ({ name, check })))('$name', async ({ check }) => {
    await onRanks({ ranks: 11, fabric: fabric(5) }, async (world) => {
      const part = await world.split(0, shuffled(world.rank), spread)
      await check(part, { seed: 1, rounds: 1, largeBytes: 0, expected: { ranks: 11 } as ExpectedWorld })
      await part.free()
    })
  })
})

describe('messages of a split', () => {
  const lg = (count: number) => Math.ceil(Math.log2(count))
  const [processes, sorters] = [12, 5]

  it.each([
    ['rows', (rank: number) => Math.floor(rank / 6), (rank: number) => rank],
    ['columns', (rank: number) => rank % 6, (rank: number) => -rank],
    ['a block', () => 3, () => 0],
  ])('%s need no message for their table, then none for look-ups, in O(1) memory', async (_, color, key) => {
    for (const kind of ['distributed', 'replicated'] as const)
      await onRanks({ ranks: 36, fabric: local({ processes, seed: 2 }) }, async (world) => {
        await world.barrier()
        const { processCounters } = world.seat().state.runtime
        const options = { ...spread, table: kind, sorters }
        const part = await world.split(color(world.rank), key(world.rank), options)
        const { table, split } = part.describe()
        expect(table).toEqual({ kind: 'strided', bytes: 24, sharedBytes: 0, lookups: null })
        expect(split!.phases['table']?.messages ?? 0).toBe(0)
        await world.barrier()
        const before = processCounters.framesSent
        const all = await part.worldRanks(Array.from({ length: part.size }, (_, rank) => rank))
        expect(all[part.rank]).toBe(world.rank)
        expect(processCounters.framesSent).toBe(before)
      })
  })

  it('are those of its phases only: context ids cost no message', async () => {
    const sent = new Map<number, { phases: number; frames: number }>()
    await onRanks({ ranks: 48, fabric: local({ processes, seed: 3 }) }, async (world) => {
      const { runtime } = world.seat().state
      const before = runtime.processCounters.framesSent
      const part = await world.split(world.rank % 2, shuffled(world.rank), { ...spread, sorters })
      const { phases } = part.describe().split!
      const costs = Object.values(phases)
      const messages = costs.reduce((sum, cost) => sum + cost.messages, 0)
      sent.set(runtime.process, { phases: messages, frames: runtime.processCounters.framesSent - before })
      // Blocks of 2 or 3 processes, columns of 5 (docs/split-algorithms.md#costs).
      const isShadow = phases['splitters'] === undefined
      expect(phases['collect'].messages).toBeLessThanOrEqual(lg(3))
      if (isShadow) return
      expect(phases['splitters'].messages % lg(sorters)).toBe(0)
      expect(phases['exchange'].messages).toBe(sorters - 1)
      expect(phases['ranks'].messages).toBeLessThanOrEqual(lg(sorters) + (sorters - 1) + 1)
    })
    expect(sent.size).toBe(processes)
    for (const { phases, frames } of sent.values()) expect(frames).toBe(phases)
  })
})

it('the memory of a split is at most 24 bytes per row of a share, of which a share is retained', async () => {
  const [ranks, processes] = [2 ** 14, 2]
  const key = Int32Array.from({ length: ranks }, (_, rank) => Math.imul(rank, 0x9e3779b1))
  const share = ranks / processes
  await onRanks({ ranks, fabric: local({ processes, seed: 1 }) }, async (world) => {
    const part = await world.split(0, key[world.rank], { table: 'distributed', selfHostRows: 0 })
    if (world.rank % share > 0) return
    const { split, table } = part.describe()
    expect(split!.peakBytes).toBeGreaterThan(20 * share)
    expect(split!.peakBytes).toBeLessThanOrEqual(26 * share)
    expect(table.bytes + table.sharedBytes).toBeLessThanOrEqual(8 * share + 4 * processes)
  })
})

describe('free while destinations are being looked up', () => {
  const seeds = [1, 2, 3, 4]
  const outcomes = (...operations: Promise<unknown>[]) => Promise.all(operations.map(codeOf))
  type Main = (part: Communicator, next: number, previous: number) => Promise<string[]>
  const onEveryRank = (seed: number, main: Main) =>
    onRanks({ ranks: 12, fabric: fabric(seed), eagerLimitBytes: 1000 }, async (world) => {
      const part = await world.split(0, shuffled(world.rank), spread)
      return main(part, (part.rank + 1) % part.size, (part.rank + part.size - 1) % part.size)
    })

  it.each(seeds)('messages with a posted receive arrive, short or long, seed %d', async (seed) => {
    const ends = await onEveryRank(seed, (part, next, previous) =>
      outcomes(
        part.recv(previous, 1),
        part.recv(previous, 2),
        part.send('short', next, 1),
        part.send(new Float64Array(1000), next, 2),
        part.free(),
      ),
    )
    expect(ends.flat()).toEqual(new Array(60).fill('none'))
  })

  it.each(seeds)('a synchronous or rendezvous send without a receive fails, seed %d', async (seed) => {
    const ends = await onEveryRank(seed, (part, next) =>
      outcomes(part.ssend('short', next), part.send(new Float64Array(1000), next), part.free()),
    )
    expect(ends).toEqual(new Array(12).fill(['ERR_COMM_FREED', 'ERR_COMM_FREED', 'none']))
  })
})

describe('storms of nested splits', () => {
  it.each([1, 2])('leave no communicator and no table behind, seed %d', async (seed) => {
    const calm = await run(storm, { ranks: 13, fabric: fabric(seed), args: { cycles: 20, seed } })
    expect(calm).toEqual(calm.map(() => ({ contexts: 0, tables: 0, grownBytes: 0 })))
  })
})
