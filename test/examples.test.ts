import { type Communicator, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import * as conjugateGradients from '../examples/conjugate-gradients.js'
import * as haloExchange from '../examples/halo-exchange.js'
import * as mandelbrot from '../examples/mandelbrot.js'
import * as persistentHalo from '../examples/persistent-halo.js'
import * as ring from '../examples/ring.js'
import * as splitGrid from '../examples/split-grid.js'
import * as spmm from '../examples/spmm.js'

const processCounts = [1, 2, 5]

/** Every rank's result on a world of so many ranks and logical processes. */
const resultsOf = <T>(main: (world: never) => Promise<T>, ranks: number, processes: number) =>
  run((world) => main(world as never), { ranks, processes })

describe.each([
  { name: 'split-grid', example: splitGrid },
  { name: 'halo-exchange', example: haloExchange },
  { name: 'persistent-halo', example: persistentHalo },
  { name: 'spmm', example: spmm },
  { name: 'ring', example: ring },
  { name: 'conjugate-gradients', example: conjugateGradients },
  {
    name: 'mandelbrot',
    example: { ...mandelbrot, default: (world: Communicator) => mandelbrot.default(world, ['0']) },
  },
])('$name', ({ example: { default: main, rankCounts } }) => {
  it.each(rankCounts)('gives the same bits on 1, 2 and 5 processes with %i ranks', async (ranks) => {
    const [reference, ...others] = await Promise.all(
      processCounts.map((processes) => resultsOf<unknown>(main, ranks, processes)),
    )
    expect(reference).toHaveLength(ranks)
    expect(reference[0]).not.toBeNull()
    // toEqual compares elements with Object.is: the same bits, but for NaN.
    for (const other of others) expect(other).toEqual(reference)
  })
})

describe('what the examples compute', () => {
  it.each(splitGrid.rankCounts)('split-grid: the product of the definition, %i ranks', async (ranks) => {
    const [result, ...others] = await resultsOf(splitGrid.default, ranks, 2)
    expect(result!.largestError).toBeLessThan(1e-14)
    expect(others.every((other) => other === null)).toBe(true)
  })

  it.each(haloExchange.rankCounts)(
    'halo-exchange: every bit of the serial plate, %i ranks',
    async (ranks) => {
      const [result] = await resultsOf(haloExchange.default, ranks, 2)
      expect(result!.differing).toBe(0)
      expect(result!.plate.some((temperature) => temperature > 1)).toBe(true)
    },
  )

  it.each(persistentHalo.rankCounts)(
    'persistent-halo: every bit of the serial torus, also once per process, %i ranks',
    async (ranks) => {
      const { default: main, hosted } = persistentHalo
      const expected = await run(main, { ranks, processes: 2 })
      expect(expected[0]).toMatchObject({ differing: 0, tiles: { length: 80 * ranks } })
      for (const processes of processCounts)
        expect(await run(main, { ranks, processes, hosted })).toEqual(expected)
    },
  )

  it.each(spmm.rankCounts)('spmm: every bit of the serial product, %i ranks', async (ranks) => {
    const [result] = await resultsOf(spmm.default, ranks, 2)
    expect(result!.differing).toBe(0)
    expect(result!.product).toHaveLength(600)
    if (ranks === 16) expect(result!.friendGroups).toBeGreaterThan(0)
  })

  it.each(conjugateGradients.rankCounts)(
    'conjugate-gradients: the known solution, of several systems, %i ranks',
    async (ranks) => {
      const main = (world: Communicator) => conjugateGradients.default(world, ['50', '3', '2'])
      const [result] = await run(main, { ranks, processes: 2 })
      expect(result).toEqual({ iterations: expect.any(Number), isRight: true })
      expect(result!.iterations).toBeLessThan(100)
    },
  )

  it.each(ring.rankCounts)('ring: every rank once, and everything home again, %i ranks', async (ranks) => {
    const [result] = await resultsOf(ring.default, ranks, 2)
    expect(result!.laps!.map(({ rank }) => rank)).toEqual(Array.from({ length: ranks }, (_, rank) => rank))
    expect(result!.laps!.at(-1)!.square).toBe(BigInt(ranks - 1) ** 2n)
    expect(result!.allHome).toBe(true)
  })

  it.each(mandelbrot.rankCounts)('mandelbrot: every point of the plain loop, %i ranks', async (ranks) => {
    const [result] = await run((world) => mandelbrot.computed(world, 3), { ranks, processes: 2 })
    const { pointsInside, pointsDiffering, times } = result!
    const { interval, turns, ...medians } = times!
    expect([pointsDiffering, turns]).toEqual([0, 3])
    const ms = expect.any(Number)
    expect(medians).toEqual({ plainMs: ms, parallelMs: ms, speedup: interval[0] })
    expect(pointsInside).toBeGreaterThan(90_000)
  })
})

describe('what mandelbrot reports of nine turns', () => {
  const reportOf = (parallel: readonly number[], differing = 0) => {
    const turns = parallel.map((time) => ({ plainMs: 200, parallelMs: time }))
    return mandelbrot.reportOf(2, differing, mandelbrot.timesOf(turns))
  }

  it.each([
    [
      [100, 110, 110, 110, 110, 110, 110, 125, 400],
      '2 ranks were 1.82 times as fast as the plain loop (95% interval 1.60 to 1.82).',
    ],
    [
      [10, 250, 250, 250, 250, 250, 250, 250, 250],
      '2 ranks were 0.80 times as fast as the plain loop (95% interval 0.80 to 0.80).',
    ],
    [
      [100, 100, 150, 150, 150, 150, 150, 250, 300],
      'no difference in time was seen between 2 ranks and the plain loop (95% interval 0.80 to 2.00).',
    ],
  ])('%j ms of 200: %s', (parallel, seen) => {
    expect(reportOf(parallel).split('\n').at(-1)).toBe(`In this run ${seen}`)
  })

  it('a point that differs fails the check', () => {
    expect(reportOf(new Array(9).fill(100), 3)).toContain('FAILED, 3 points differ')
  })
})
