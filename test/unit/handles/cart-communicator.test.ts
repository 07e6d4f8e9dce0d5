import { describe, expect, it } from 'vitest'
import { CartCommunicator } from '../../../src/handles/cart-communicator.js'
import type { Communicator } from '../../../src/handles/communicator.js'
import { run } from '../../../src/launch/run.js'
import { PROC_NULL } from '../../../src/messages/mailboxes/envelope.js'
import { cartTopology } from '../../../src/topology/generate/cartesian.js'
import { coded, codeOf, onRanks } from '../../support/on-ranks.js'

const processCounts = [1, 2, 5]

/** Grids, on a world with one more rank than they need. */
const grids = [
  { dims: [], periods: [] },
  { dims: [1], periods: [true] },
  { dims: [1], periods: [false] },
  { dims: [2], periods: [true] },
  { dims: [2], periods: [false] },
  { dims: [7], periods: [true] },
  { dims: [3, 5], periods: [false, true] },
  { dims: [2, 1, 4], periods: [true, true, false] },
]

const wrap = (coord: number, extent: number) => ((coord % extent) + extent) % extent

/** The neighbor by coordinates, by MPI's definition. */
function neighbor(grid: (typeof grids)[number], coords: number[], dimension: number, step: number): number {
  let rank = 0
  for (const [d, extent] of grid.dims.entries()) {
    const moved = coords[d] + (d === dimension ? step : 0)
    const coord = grid.periods[d] ? wrap(moved, extent) : moved
    if (coord < 0 || coord >= extent) return PROC_NULL
    rank = rank * extent + coord
  }
  return rank
}

async function onGrids(
  check: (cart: CartCommunicator, grid: (typeof grids)[number]) => Promise<void> | void,
) {
  let ran = 0
  for (const grid of grids) {
    const ranks = grid.dims.reduce((product, extent) => product * extent, 1)
    for (const processes of processCounts) {
      const main = async (world: Communicator) => {
        const cart = await world.createCart(grid.dims, { periods: grid.periods, reorder: true })
        expect(cart === null).toBe(world.rank === ranks)
        if (cart === null) return
        expect([cart.rank, cart.size]).toEqual([world.rank, ranks])
        await check(cart, grid)
        ran++
      }
      await run(main, { ranks: ranks + 1, processes })
    }
  }
  expect(ran).toBeGreaterThan(100)
}

describe('createCart', () => {
  it('numbers ranks row-major and has its shape', () =>
    onGrids((cart, grid) => {
      expect(cart.dims).toEqual(grid.dims)
      expect(cart.periods).toEqual(grid.periods)
      const coords = cart.coords()
      expect(cart.coords(cart.rank)).toEqual(coords)
      expect(cart.rankOf(coords)).toBe(cart.rank)
      expect(coords.reduce((rank, coord, d) => rank * grid.dims[d] + coord, 0)).toBe(cart.rank)
      expect(() => cart.coords(cart.size)).toThrow(coded('ERR_RANK'))
      expect(() => cart.rankOf([...coords, 0])).toThrow(coded('ERR_DIMS'))
    }))

  it('shifts along every dimension', () =>
    onGrids(async (cart, grid) => {
      for (const dimension of grid.dims.keys()) {
        for (const displacement of [1, -1, 2, 0]) {
          const { source, dest } = cart.shift(dimension, displacement)
          expect(source).toBe(neighbor(grid, cart.coords(), dimension, -displacement))
          expect(dest).toBe(neighbor(grid, cart.coords(), dimension, displacement))
          const got = await cart.sendrecv<Int32Array>(Int32Array.of(cart.rank), dest, source)
          if (source !== PROC_NULL) expect([...got.data]).toEqual([source])
        }
      }
      expect(() => cart.shift(grid.dims.length)).toThrow(coded('ERR_DIMS'))
    }))

  it('has a slot for missing neighbors in receive buffers', () =>
    onGrids(async (cart, grid) => {
      const slots = grid.dims.flatMap((_, d) => [
        neighbor(grid, cart.coords(), d, -1),
        neighbor(grid, cart.coords(), d, 1),
      ])
      expect([...cart.sources]).toEqual(slots)
      expect([...cart.destinations]).toEqual(slots)
      const block = Int32Array.of(cart.rank, cart.rank + 100)
      const fresh = await cart.neighborAllgather(block)
      expect([...fresh]).toEqual(slots.flatMap((slot) => (slot === PROC_NULL ? [0, 0] : [slot, slot + 100])))
      const into = new Int32Array(2 * slots.length).fill(-7)
      await cart.neighborAllgather(block, { into })
      const expected = slots.flatMap((slot) => (slot === PROC_NULL ? [-7, -7] : [slot, slot + 100]))
      expect([...into]).toEqual(expected)
      const lengthOf = (rank: number) => (rank === PROC_NULL ? 0 : rank % 3)
      const varied = await cart.neighborAllgatherv(new Int16Array(lengthOf(cart.rank)).fill(cart.rank))
      expect([...varied.counts]).toEqual(slots.map(lengthOf))
      expect([...varied.data]).toEqual(slots.flatMap((slot) => Array(lengthOf(slot)).fill(slot)))
      into.fill(-7)
      const request = cart.neighborAllgatherInit(block, into)
      await request.start()
      expect([...into]).toEqual(expected)
    }))

  it('sub returns slices, which are grids', () =>
    onGrids(async (cart, grid) => {
      const choices =
        grid.dims.length === 0 ? [[]] : [[true], [false], [false, true, true], [true, false, true]]
      for (const choice of choices) {
        const remain = grid.dims.map((_, d) => choice[d % choice.length])
        const slice = await cart.sub(remain)
        expect(slice).toBeInstanceOf(CartCommunicator)
        const kept = <T>(values: readonly T[]) => values.filter((_, d) => remain[d])
        expect(slice.dims).toEqual(kept(grid.dims))
        expect(slice.periods).toEqual(kept(grid.periods))
        expect(slice.coords()).toEqual(kept(cart.coords()))
        const here = await slice.neighborAllgather(Int32Array.of(cart.rank))
        const expected = kept(grid.dims.map((_, d) => d)).flatMap((d) =>
          [-1, 1].map((step) => neighbor(grid, cart.coords(), d, step)),
        )
        expect([...here]).toEqual(expected.map((rank) => (rank === PROC_NULL ? 0 : rank)))
      }
      expect(await codeOf(cart.sub(grid.dims.map(() => true).concat(true)))).toBe('ERR_DIMS')
    }))

  it('dup returns a grid, and so does createTopology of a Cartesian topology', () =>
    onGrids(async (cart, grid) => {
      const copy = await cart.dup()
      expect(copy).toBeInstanceOf(CartCommunicator)
      expect(copy.coords()).toEqual(cart.coords())
      const again = await cart.createTopology(cartTopology(grid))
      expect(again).toBeInstanceOf(CartCommunicator)
      expect([...again.sources]).toEqual([...cart.sources])
    }))

  it('rejects malformed and too large grids', () =>
    onRanks({ ranks: 7, processes: 2 }, async (world) => {
      for (const dims of [[0], [2, -1], [1.5], [4, 2]])
        expect(await codeOf(world.createCart(dims))).toBe('ERR_DIMS')
      expect(await codeOf(world.createCart([2, 2], { periods: [true] }))).toBe('ERR_DIMS')
      await world.barrier()
    }))

  it.each([1, 2])('rejects different grids of the ranks, on %i processes', async (processes) => {
    const created = run((world) => world.createCart(world.rank === 0 ? [4, 1] : [1, 4]), {
      ranks: 4,
      processes,
    })
    expect(await codeOf(created)).toBe('ERR_COLLECTIVE_MISMATCH')
  })

  it('makes a grid of 10,000 ranks', async () => {
    const main = async (world: Communicator) => {
      const cart = (await world.createCart([50, 200], { periods: [true, true] }))!
      const got = await cart.neighborAllgather(Int32Array.of(cart.rank))
      return got.every((value, slot) => value === cart.sources[slot])
    }
    const right = await run(main, { ranks: 10_000, processes: 2 })
    expect(right.every(Boolean)).toBe(true)
  })
})
