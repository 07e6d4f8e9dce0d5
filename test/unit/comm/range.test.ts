import { type Communicator, local } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { codeOf, onRanks } from '../../support/on-ranks.js'

const ranks = 24
const fabric = (seed = 1) => local({ processes: 4, seed })
const framesSent = (world: Communicator) => world.seat().state.runtime.processCounters.framesSent

/** Every member of `expected` (world ranks, in order) is one, and they sum up their ranks. */
async function check(part: Communicator, world: Communicator, expected: readonly number[]): Promise<void> {
  expect(part.size).toBe(expected.length)
  expect(expected[part.rank]).toBe(world.rank)
  const all = await part.allgather(Int32Array.of(world.rank))
  expect([...all]).toEqual(expected)
  const next = (part.rank + 1) % part.size
  const send = part.isend(Int32Array.of(world.rank), next)
  const { data } = await part.recv<Int32Array>((part.rank + part.size - 1) % part.size)
  expect(data[0]).toBe(expected[(part.rank + part.size - 1) % part.size])
  await send.wait()
}

describe('range', () => {
  it('sends no message and takes O(1) memory', async () => {
    await onRanks({ ranks, fabric: fabric() }, async (world) => {
      const before = framesSent(world)
      const half = (await world.range(world.rank < 12 ? 0 : 12, world.rank < 12 ? 11 : 23))!
      const every = (await world.range(world.rank % 3, 21 + (world.rank % 3), 3))!
      const back = await every.range(every.size - 1, 0, -1)
      expect(framesSent(world)).toBe(before)
      for (const { table } of [half, every, back!].map((part) => part.describe())) {
        expect(table).toMatchObject({ kind: 'strided', bytes: 24, sharedBytes: 0 })
      }
      await world.barrier()
      const third = Array.from({ length: 8 }, (_, i) => (world.rank % 3) + 3 * i)
      await check(
        half,
        world,
        Array.from({ length: 12 }, (_, i) => i + (world.rank < 12 ? 0 : 12)),
      )
      await check(every, world, third)
      await check(back!, world, third.toReversed())
    })
  })

  it('can be called repeatedly, for overlapping ranges, of any parent, freed or not', async () => {
    const order = Array.from({ length: ranks }, (_, rank) => rank).sort(
      (a, b) => ((a * 7) % 24) - ((b * 7) % 24),
    )
    await onRanks({ ranks, fabric: fabric(7) }, async (world) => {
      for (const options of [{}, { table: 'distributed', selfHostRows: 0 } as const]) {
        const parent = await world.split(0, (world.rank * 7) % 24, options)
        for (let round = 0; round < 5; round++) {
          const ranges = [
            [0, 15, 1],
            [8, 23, 1],
            [2 * round, 23, 5],
            [20, round, -2],
            [3, 3, 1],
          ]
          for (const [first, last, stride] of ranges) {
            const part = await parent.range(first, last, stride)
            const places = Array.from({ length: ranks }, (_, i) => first + i * stride)
            const members = places.filter((place) => (stride > 0 ? place <= last : place >= last))
            expect(part === null).toBe(!members.includes(parent.rank))
            if (part === null) continue
            await check(
              part,
              world,
              members.map((place) => order[place]),
            )
            if (round % 2 === 0) await part.free()
            else await (await part.dup()).split(0)
          }
        }
      }
    })
  })

  it('rejects arguments that are not a range', async () => {
    await onRanks({ ranks: 4 }, async (world) => {
      for (const [first, last] of [
        [0, 4],
        [-1, 2],
      ])
        expect(await codeOf(world.range(first, last))).toBe('ERR_RANK')
      for (const stride of [0, -1, 0.5]) expect(await codeOf(world.range(0, 3, stride))).toBe('ERR_ARGUMENT')
    })
  })
})
