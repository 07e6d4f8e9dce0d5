import { type Communicator, createOperation, local, run, strided } from 'rankweave'
import { describe, expect, it } from 'vitest'

const ranks = 5
const at = (src: number, dest: number, element: number) => src * 10_000 + dest * 100 + element

describe.each([1, 2, 5])('payloads of collectives on %i processes', (processes) => {
  const fabric = local({ processes, seed: 9, scribble: true })
  const each = (main: (world: Communicator) => Promise<unknown>) => run(main, { ranks, fabric })

  /** Column `rank` of a matrix with `ranks` columns: every other element belongs to no rank. */
  const column = (world: Communicator, rows: number) => {
    const matrix = new Int32Array(rows * ranks).fill(-1)
    for (let row = 0; row < rows; row++) matrix[row * ranks + world.rank] = at(world.rank, 0, row)
    return strided(matrix, { offset: world.rank, count: rows, blockLength: 1, stride: ranks })
  }
  const packedColumn = (src: number, rows: number) =>
    Array.from({ length: rows }, (_, row) => at(src, 0, row))

  it('strided views are packed', async () => {
    await each(async (world) => {
      const [bcast, gathered, sum, blocks, last] = await Promise.all([
        world.bcast(world.rank === 2 ? column(world, 3) : null, 2),
        world.allgather(column(world, 3)),
        world.allreduce(column(world, 3), 'sum'),
        world.alltoall(column(world, ranks)),
        world.scan(column(world, 2), 'max'),
      ])
      if (world.rank !== 2) expect(bcast).toEqual(Int32Array.from(packedColumn(2, 3)))
      const columns = Array.from({ length: ranks }, (_, src) => packedColumn(src, 3))
      expect(gathered).toEqual(Int32Array.from(columns.flat()))
      const sums = [0, 1, 2].map((row) => columns.reduce((total, list) => total + list[row], 0))
      expect(sum).toEqual(Int32Array.from(sums))
      expect(blocks).toEqual(Int32Array.from({ length: ranks }, (_, src) => at(src, 0, world.rank)))
      expect(last).toEqual(Int32Array.from(packedColumn(world.rank, 2)))
    })
  })

  it('views into a larger buffer send and receive only their own elements', async () => {
    await each(async (world) => {
      const large = Float32Array.from({ length: 8 }, (_, i) => at(world.rank, 1, i))
      const room = new Float32Array(ranks * 2 + 2).fill(-1)
      const into = room.subarray(1, -1)
      const got = await world.allgather(large.subarray(3, 5), { into })
      expect(got).toBe(into)
      const expected = Array.from({ length: ranks }, (_, src) => [at(src, 1, 3), at(src, 1, 4)]).flat()
      expect([...room]).toEqual([-1, ...expected, -1])
    })
  })

  it('a layout larger than memory fails only its rank', async () => {
    await each(async (world) => {
      const displs = [0, 1, 2, 3, world.rank === 1 ? 0x7fffffff : 4]
      const gathering = world.allgatherv(Float64Array.of(world.rank), { displs })
      if (world.rank === 1) await expect(gathering).rejects.toMatchObject({ code: 'ERR_COUNT' })
      else expect([...(await gathering).data]).toEqual([0, 1, 2, 3, 4])
      await world.barrier()
    })
  })

  it('any value that structured clone accepts can be sent: maps, dates, typed arrays, null and undefined', async () => {
    await each(async (world) => {
      const mine = {
        rank: world.rank,
        map: new Map([[world.rank, new Date(world.rank)]]),
        data: Int8Array.of(world.rank),
      }
      const of = (rank: number) => ({
        rank,
        map: new Map([[rank, new Date(rank)]]),
        data: Int8Array.of(rank),
      })
      const everyone = Array.from({ length: ranks }, (_, rank) => rank)
      const [gathered, scattered, traded, nothing, absent] = await Promise.all([
        world.gather(mine, 4),
        world.scatter(world.rank === 1 ? everyone.map(of) : null, 1),
        world.alltoall(everyone.map((dest) => [world.rank, dest, null])),
        world.allgather(null),
        world.bcast(world.rank === 3 ? undefined : 'ignored', 3),
      ])
      expect(gathered).toEqual(world.rank === 4 ? everyone.map(of) : null)
      expect(scattered).toEqual(of(world.rank))
      expect(traded).toEqual(everyone.map((src) => [src, world.rank, null]))
      expect(nothing).toEqual(everyone.map(() => null))
      expect(absent).toBeUndefined()
    })
  })

  it('a user-defined operation may modify its arguments and return either', async () => {
    const append = createOperation<number[]>((a, b) => {
      a.push(...b)
      return a
    })
    const right = createOperation<Int32Array>((_, b) => b, { name: 'right' })
    await each(async (world) => {
      const list = [world.rank]
      const mine = Int32Array.of(world.rank)
      const [all, before, through, last, lastSoFar] = await Promise.all([
        world.allreduce(list, append),
        world.exscan(list, append),
        world.scan(list, append),
        world.allreduce(mine, right),
        world.scan(mine, right),
      ])
      const everyone = Array.from({ length: ranks }, (_, rank) => rank)
      expect(all).toEqual(everyone)
      expect(before).toEqual(world.rank === 0 ? null : everyone.slice(0, world.rank))
      expect(through).toEqual(everyone.slice(0, world.rank + 1))
      expect(last).toEqual(Int32Array.of(ranks - 1))
      expect(lastSoFar).toEqual(Int32Array.of(world.rank))
      last[0] = 99
      expect([list, mine]).toEqual([[world.rank], Int32Array.of(world.rank)])
    })
  })

  it('64-bit integers keep all bits and wrap on overflow', async () => {
    await each(async (world) => {
      const big = 2n ** 62n + BigInt(world.rank)
      const sum = await world.allreduce(BigInt64Array.of(big, -1n), 'sum')
      expect(sum).toEqual(BigInt64Array.of(BigInt.asIntN(64, 5n * 2n ** 62n + 10n), -5n))
      const prod = await world.allreduce(BigUint64Array.of(2n ** 15n), 'prod')
      expect(prod).toEqual(BigUint64Array.of(2n ** 75n % 2n ** 64n))
    })
  })

  it('alltoallv takes and places blocks at any offset', async () => {
    await each(async (world) => {
      const data = Int32Array.from({ length: ranks * 3 }, (_, i) => at(world.rank, Math.floor(i / 3), i % 3))
      const sendCounts = Array.from({ length: ranks }, (_, dest) => (dest + world.rank) % 3)
      const sendDispls = Array.from({ length: ranks }, (_, dest) => dest * 3)
      const displs = Array.from({ length: ranks }, (_, src) => (ranks - 1 - src) * 3)
      const into = new Int32Array(ranks * 3).fill(-1)
      const got = await world.alltoallv(data, sendCounts, { sendDispls, displs, into })
      const expected = new Int32Array(ranks * 3).fill(-1)
      for (let src = 0; src < ranks; src++) {
        for (let i = 0; i < (src + world.rank) % 3; i++) expected[displs[src] + i] = at(src, world.rank, i)
      }
      expect(got.data).toBe(into)
      expect(into).toEqual(expected)
      expect([...got.displs]).toEqual(displs)
    })
  })
})
