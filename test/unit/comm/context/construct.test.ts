import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { Group } from '../../../../src/comm/table/group.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'
import { ANY_SOURCE, ANY_TAG } from '../../../../src/matching/wildcards.js'

const rankCounts = [1, 2, 3, 4, 7, 8, 16]
const processCounts = [1, 2, 5]

/** Every world of the declared rank and process counts. */
async function inWorlds(main: (world: Communicator) => Promise<void> | void) {
  let worlds = 0
  for (const ranks of rankCounts) {
    for (const processes of processCounts) {
      await run(main, { ranks, fabric: local({ processes, seed: ranks * 10 + processes }) })
      worlds++
    }
  }
  expect(worlds).toBe(rankCounts.length * processCounts.length)
}

/** World ranks of a communicator, in its order. */
const membersOf = async (comm: Communicator) => [...(await (await comm.group()).worldRanks())]

/** Contexts this rank's process keeps. */
const contextsOf = (comm: Communicator) => [...comm.seat().state.runtime.contexts].length

/** Every rank tells every other, and itself, who it is: only members may hear it. */
async function talk(comm: Communicator, mark: number) {
  const sends = Array.from({ length: comm.size }, (_, dest) =>
    comm.isend(Int32Array.of(mark, comm.rank, dest), dest, 3),
  )
  for (let source = 0; source < comm.size; source++) {
    const { data } = await comm.recv<Int32Array>(source, 3)
    expect([...data]).toEqual([mark, source, comm.rank])
  }
  for (const send of sends) await send.wait()
}

describe('split', () => {
  it('makes one communicator per color, ordered by key, ties by rank', () =>
    inWorlds(async (world) => {
      const colorOf = (rank: number) => rank % 3
      const keyOf = (rank: number) => [0, -5, 2 ** 31 - 1, -(2 ** 31), 0][rank % 5]!
      const part = await world.split(colorOf(world.rank), keyOf(world.rank))
      const expected = [...Array(world.size).keys()]
        .filter((rank) => colorOf(rank) === colorOf(world.rank))
        .sort((a, b) => keyOf(a) - keyOf(b) || a - b)
      expect(await membersOf(part)).toEqual(expected)
      expect(expected[part.rank]).toBe(world.rank)
      await talk(part, 100 + colorOf(world.rank))
    }))

  it('gives null to ranks without a color, even to all', () =>
    inWorlds(async (world) => {
      const odd = await world.split(world.rank % 2 === 1 ? 0 : null)
      expect(odd === null).toBe(world.rank % 2 === 0)
      if (odd !== null) expect(odd.size).toBe(Math.floor(world.size / 2))
      expect(await world.split(null)).toBeNull()
    }))

  it('takes the extreme colors, and a color per rank', () =>
    inWorlds(async (world) => {
      const part = await world.split(2 ** 31 - 1 - world.rank, 7)
      expect([part.rank, part.size]).toEqual([0, 1])
      await talk(part, world.rank)
    }))

  it('nests', () =>
    inWorlds(async (world) => {
      const reversed = await world.split(0, -world.rank)
      const half = await reversed.split(reversed.rank < world.size / 2 ? 1 : 0, -reversed.rank)
      const expected = [...Array(world.size).keys()].filter(
        (rank) => world.size - 1 - rank < world.size / 2 === reversed.rank < world.size / 2,
      )
      expect(await membersOf(half)).toEqual(expected)
      await talk(half, 5)
    }))

  it('starts concurrently with itself and other collectives', () =>
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

  it('refuses bad colors and keys before anything is sent', () =>
    inWorlds(async (world) => {
      for (const color of [-1, 0.5, 2 ** 31, Number.NaN, undefined as unknown as number]) {
        await expect(world.split(color)).rejects.toMatchObject({ code: 'ERR_COLOR' })
      }
      for (const key of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN, null as unknown as number]) {
        await expect(world.split(0, key)).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
      }
      expect((await world.split(0)).size).toBe(world.size)
    }))

  it('says so when a rank calls something else', async () => {
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
  it('joins the ranks that share a node', async () => {
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

  it('knows only nodes', async () => {
    await run(
      (world) => expect(world.splitType('socket' as 'node')).rejects.toMatchObject({ code: 'ERR_ARGUMENT' }),
      { ranks: 2 },
    )
  })
})

describe('dup and compare', () => {
  it('isolates: messages of one communicator never match those of another', () =>
    inWorlds(async (world) => {
      const [a, b] = [await world.dup(), await world.dup()]
      const next = (world.rank + 1) % world.size
      const sent = [world, b, a].map((comm, i) => comm.isend(Int32Array.of(i, world.rank), next, 7))
      for (const [comm, mark] of [
        [a, 2],
        [world, 0],
        [b, 1],
      ] as const) {
        const { data } = await comm.recv<Int32Array>(ANY_SOURCE, ANY_TAG)
        expect([...data]).toEqual([mark, (world.rank + world.size - 1) % world.size])
        await world.barrier()
        expect(await comm.iprobe()).toBeNull()
      }
      for (const request of sent) await request.wait()
    }))

  it('compares: ident, congruent, similar, unequal', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const reversed = await world.split(0, -world.rank)
      const some = await world.split(world.rank < 2 ? 0 : 1)
      expect(await world.compare(world)).toBe('ident')
      expect(await world.compare(copy)).toBe('congruent')
      expect(await world.compare(reversed)).toBe(world.size === 1 ? 'congruent' : 'similar')
      expect(await world.compare(some)).toBe(world.size <= 2 ? 'congruent' : 'unequal')
      expect(await (await world.group()).compare(await copy.group())).toBe('ident')
    }))

  it('group gives one object, however often it is called', () =>
    inWorlds(async (world) => {
      expect(await world.group()).toBe(await world.group())
    }))
})

describe('create', () => {
  it('makes a communicator of a group, in its order', () =>
    inWorlds(async (world) => {
      const everySecond = [...Array(world.size).keys()].filter((rank) => rank % 2 === 0).reverse()
      const part = await world.create((await world.group()).incl(everySecond))
      expect(part === null).toBe(world.rank % 2 === 1)
      if (part === null) return
      expect(await membersOf(part)).toEqual(everySecond)
      await talk(part, 9)
    }))

  it('makes several at once from disjoint groups, none from empty ones', () =>
    inWorlds(async (world) => {
      const all = await world.group()
      const kind = world.rank % 3
      const members = [...Array(world.size).keys()].filter((rank) => rank % 3 === kind)
      const part = await world.create(kind === 2 ? Group.EMPTY : all.incl(members))
      if (kind === 2) expect(part).toBeNull()
      else expect(await membersOf(part!)).toEqual(members)
      expect(await world.create(Group.EMPTY)).toBeNull()
    }))

  it('refuses groups of elsewhere, before anything is sent', () =>
    inWorlds(async (world) => {
      const lonely = await world.split(world.rank)
      if (world.size > 1) {
        await expect(lonely.create(await world.group())).rejects.toMatchObject({ code: 'ERR_GROUP' })
      }
      await expect(world.create([0] as unknown as Group)).rejects.toMatchObject({ code: 'ERR_GROUP' })
      expect((await world.create(await world.group()))!.size).toBe(world.size)
    }))

  it('refuses, on all ranks, members that pass different groups, and lives on', () =>
    inWorlds(async (world) => {
      if (world.size < 2) return
      const all = await world.group()
      const mine = world.rank === 1 ? all.incl([1]) : all.incl([0, 1])
      await expect(world.create(mine)).rejects.toMatchObject({ code: 'ERR_GROUP' })
      await talk(world, 4)
      expect(contextsOf(world)).toBe(1)
    }))
})

describe('free', () => {
  it('leaves no context behind', () =>
    inWorlds(async (world) => {
      for (let round = 0; round < 3; round++) {
        const part = await world.split(world.rank % 2, -world.rank)
        const copy = await part.dup()
        await talk(copy, round)
        await Promise.all([part.free(), copy.free()])
      }
      // The other color may still be at it.
      await world.barrier()
      expect(contextsOf(world)).toBe(1)
    }))

  it('makes the handle unusable at once', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const freeing = copy.free()
      await expect(copy.send(null, 0)).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
      await freeing
      await expect(copy.free()).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
      await expect(copy.group()).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
    }))

  it('refuses to free the world', () =>
    inWorlds(async (world) => {
      await expect(world.free()).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
      await talk(world, 1)
    }))

  it('lets what can complete complete, and ends the rest', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const next = (world.rank + 1) % world.size
      const large = new Float64Array(20_000).fill(world.rank)
      const received = copy.irecv<Float64Array>(ANY_SOURCE, 1)
      const sent = copy.isend(large, next, 1)
      const unheard = copy.issend(Int32Array.of(1), next, 2)
      const eager = copy.isend(Int32Array.of(1), next, 3)
      const collective = copy.barrier()
      const never = copy.irecv(ANY_SOURCE, 99)
      const [freed, ...ends] = await Promise.allSettled([
        copy.free(),
        received.wait(),
        sent.wait(),
        eager.wait(),
        collective,
        unheard.wait(),
        never.wait(),
      ])
      expect(freed.status).toBe('fulfilled')
      expect(ends.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ])
      const arrived = ends[0] as PromiseFulfilledResult<{ data: Float64Array }>
      const before = (world.rank + world.size - 1) % world.size
      expect(arrived.value.data.length).toBe(20_000)
      expect(arrived.value.data.every((value) => value === before)).toBe(true)
      for (const end of ends.slice(4)) expect(end).toMatchObject({ reason: { code: 'ERR_COMM_FREED' } })
      await world.barrier()
      expect(contextsOf(world)).toBe(1)
    }))

  it('waits for collectives that were started and not awaited', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const sums = Array.from({ length: 5 }, (_, i) => copy.allreduce(Int32Array.of(world.rank + i), 'sum'))
      await copy.free()
      const ranks = (world.size * (world.size - 1)) / 2
      for (const [i, sum] of sums.entries()) expect([...(await sum)]).toEqual([ranks + i * world.size])
    }))

  it.each([1, 2, 3, 4])('survives storms of split, dup, traffic and free, seed %i', async (seed) => {
    for (const processes of [1, 2, 5]) {
      await run(
        async (world) => {
          // Choices are the same on all ranks; what is left unreceived differs.
          const shared = mulberry32(seed)
          const own = mulberry32(seed * 1_000 + world.rank)
          const live: Communicator[] = []
          for (let step = 0; step < 40; step++) {
            const choice = shared() % 3
            const parent = live.length === 0 ? world : live[shared() % live.length]!
            if (choice === 0 && live.length < 6) live.push(await parent.dup())
            else if (choice === 1 && live.length < 6) live.push(await world.split(0, own() % 9))
            else if (live.length > 0) await live.splice(shared() % live.length, 1)[0]!.free()
            for (const comm of live) {
              // Eager, so never refused; half of it is left for `free` to drop.
              await comm.send(Int32Array.of(step, comm.rank), own() % comm.size, 1)
              if ((own() & 1) === 0 && (await comm.iprobe()) !== null) await comm.recv()
            }
          }
          for (const comm of live) await comm.free()
          await world.barrier()
          expect(contextsOf(world)).toBe(1)
        },
        { ranks: 6, fabric: local({ processes, seed }) },
      )
    }
  })
})
