import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../src/comm/communicator.js'
import { everyCall } from '../../src/comm/exchange-lane.js'
import { run } from '../../src/comm/run.js'
import type { Runtime } from '../../src/comm/runtime.js'
import { type SplitOptions, splitAlgorithms } from '../../src/comm/split/plan.js'
import { sliceService } from '../../src/comm/tables/slice-service.js'
import { local } from '../../src/fabric/local.js'
import { seededRandom } from '../../src/fabric/random.js'
import { cases } from '../support/soak.js'
import { colorPatterns, expectedGroups, keyPatterns, splitCase } from '../support/split-cases.js'

const gathers = (algorithm: string) => algorithm === 'conventional' || algorithm === 'merging'

const layouts = fc
  .record({ ranks: fc.integer({ min: 1, max: 200 }), processes: fc.integer({ min: 1, max: 24 }) })
  .map(({ ranks, processes }) => ({ ranks, processes: Math.min(ranks, processes) }))
  .chain(({ ranks, processes }) =>
    fc.record({
      ranks: fc.constant(ranks),
      processes: fc.constant(processes),
      sorters: fc.integer({ min: 1, max: processes }),
      tableGroup: fc.integer({ min: 1, max: processes }),
      seed: fc.nat(),
    }),
  )

describe('invariants of splits on logical processes, frames in random order', () => {
  it('slices are even, add up to the table, and are no more than a share (exact splitters)', async () => {
    await fc.assert(
      fc.asyncProperty(layouts, async ({ ranks, processes, sorters, tableGroup, seed }) => {
        const draw = seededRandom(seed)
        const key = Int32Array.from({ length: ranks }, () => Math.floor((draw() - 0.5) * 2 ** 32))
        /** By home and first row of every slice: its rows. */
        const tables = new Map<number, Map<number, number>>()
        let slices = 0
        await run(
          async (world) => {
            const options: SplitOptions = { table: 'distributed', sorters, tableGroup, selfHostRows: 0 }
            const part = await world.split(0, key[world.rank], options)
            const { table, runtime } = part.seat().state
            if (table.kind !== 'distributed') return
            const { home, hosted, bounds } = table.slices.places
            slices = bounds.slices
            const table_ = tables.get(home) ?? new Map<number, number>()
            tables.set(home, table_)
            if (hosted !== undefined) table_.set(hosted.start, hosted.worldRanks.length)
            // One slice per process, and nothing hosted beyond what its own table counts.
            expect(sliceService(runtime).hostedRows).toBe(hosted?.worldRanks.length ?? 0)
          },
          { ranks, fabric: local({ processes, seed }) },
        )
        for (const rows of tables.values()) {
          const lengths = [...rows.values()]
          expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(ranks)
          expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1)
          expect(Math.max(...lengths)).toBeLessThanOrEqual(Math.ceil(ranks / slices))
        }
      }),
      { numRuns: cases(100) },
    )
  })

  it('no message is left over, and ids are equal within a color, else different', async () => {
    const any = fc.record({
      layout: layouts,
      colors: fc.constantFrom(...Object.keys(colorPatterns)),
      keys: fc.constantFrom(...Object.keys(keyPatterns)),
      algorithm: fc.constantFrom(...splitAlgorithms),
      table: fc.constantFrom('distributed' as const, 'replicated' as const),
    })
    await fc.assert(
      fc.asyncProperty(any, async ({ layout, colors, keys, algorithm, table }) => {
        const { ranks, processes, sorters, tableGroup, seed } = layout
        const given = splitCase(ranks, colorPatterns[colors], keyPatterns[keys], seededRandom(seed))
        const options: SplitOptions = gathers(algorithm)
          ? { algorithm }
          : { algorithm, table, tableGroup, ...(algorithm === 'minimal' ? {} : { sorters }) }
        const runtimes = new Set<Runtime>()
        const ids: (string | undefined)[] = []
        await run(
          async (world: Communicator) => {
            const { runtime, collectives } = world.seat().state
            const aside = await world.dup()
            const color = given.color[world.rank]
            const part = await world.split(color < 0 ? null : color, given.key[world.rank], options)
            // An exchange is spared for the next collective only if it has neither kept nor awaits anything.
            const lane = [...collectives.lanes].find(({ id }) => id === everyCall)!
            expect(lane.slots.size).toBe(0)
            expect(lane.spareExchange?.idle).toBe(true)
            runtimes.add(runtime)
            const id = part?.seat().state.id
            ids[world.rank] = id && `${id.leader}.${id.counter}`
            // Tables that nobody uses are released, by messages that nobody waits for: to the home, then to the hosts.
            for (let hop = 0; hop < 2; hop++) await aside.alltoall(new Int32Array(ranks))
          },
          { ranks, fabric: local({ processes, seed }) },
        )
        const sum = (of: 'framesSent' | 'framesReceived') =>
          [...runtimes].reduce((total, { processCounters }) => total + processCounters[of], 0)
        expect(sum('framesReceived')).toBe(sum('framesSent'))
        const groups = expectedGroups(given)
        for (const group of groups) expect(new Set(group.map((rank) => ids[rank])).size).toBe(1)
        expect(new Set(groups.map(([rank]) => ids[rank])).size).toBe(groups.length)
      }),
      { numRuns: cases(150) },
    )
  })
})
