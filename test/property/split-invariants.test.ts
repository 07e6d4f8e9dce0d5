import fc from 'fast-check'
import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import { plainLane } from '../../src/calls/matching/lane.js'
import type { CommRuntime } from '../../src/comm/comm-state.js'
import { planSplit, type SplitOptions, splitAlgorithms, tableBytes } from '../../src/comm/split/split-plan.js'
import { cases } from '../support/soak.js'
import {
  colorPatterns,
  expectedGroups,
  keyPatterns,
  splitCase,
  splitLayouts,
} from '../support/split-cases.js'

const gathers = (algorithm: string) => algorithm === 'conventional' || algorithm === 'merging'

const anyCase = fc.record({
  layout: splitLayouts,
  colors: fc.constantFrom(...Object.keys(colorPatterns)),
  keys: fc.constantFrom(...Object.keys(keyPatterns)),
})

/** One color and one slice per process, so that a table is whole whatever else is drawn. */
const wholeTable = {
  layout: { ranks: 24, processes: 6, sorters: 3, tableGroup: 6, seed: 1 },
  colors: 'one',
  keys: 'random',
}

describe('invariants of splits on logical processes, frames in random order', () => {
  it('slices are even, add up to the table, and are no more than a share; positions are those of the definition', async () => {
    let wholeTables = 0
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ layout, colors, keys }) => {
        const { ranks, processes, sorters, tableGroup, seed } = layout
        const given = splitCase(ranks, colorPatterns[colors], keyPatterns[keys], seededRandom(seed))
        const groups = expectedGroups(given)
        const rows = groups.flat().length
        /** By home and first row of every slice: its rows. */
        const tables = new Map<number, Map<number, number>>()
        let slices = 0
        await run(
          async (world) => {
            const options: SplitOptions = { table: 'distributed', sorters, tableGroup, selfHostRows: 0 }
            const color = given.color[world.rank]
            const part = await world.split(color < 0 ? null : color, given.key[world.rank], options)
            if (part === null) return
            const { table, runtime } = part.seat().state
            if (table.kind !== 'distributed') return
            const before = groups.findIndex((group) => group.includes(world.rank))
            expect(table.start).toBe(groups.slice(0, before).flat().length)
            const { home, hosted, bounds } = table.slices.places
            slices = bounds.slices
            const table_ = tables.get(home) ?? new Map<number, number>()
            tables.set(home, table_)
            if (hosted !== undefined) table_.set(hosted.start, hosted.worldRanks.length)
            // One slice per process, and nothing hosted beyond what its own table counts.
            expect(runtime.slices.hostedRows).toBe(hosted?.worldRanks.length ?? 0)
          },
          { ranks, fabric: local({ processes, seed }) },
        )
        for (const slicesOf of tables.values()) {
          const lengths = [...slicesOf.values()]
          expect(Math.max(...lengths)).toBeLessThanOrEqual(Math.ceil(rows / slices))
          // Hosts without a member were not asked.
          if (rows < ranks || slicesOf.size < Math.min(slices, rows)) continue
          wholeTables++
          expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(rows)
          expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: cases(25, 12), examples: [[wholeTable]] },
    )
    expect(wholeTables).toBeGreaterThan(0)
  })

  it('rows of small communicators in a process stay within selfHostRows, of large ones within a share', async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, fc.integer({ min: 0, max: 80 }), async ({ layout, colors, keys }, most) => {
        const { ranks, processes, sorters, tableGroup, seed } = layout
        const given = splitCase(ranks, colorPatterns[colors], keyPatterns[keys], seededRandom(seed))
        /** By process and leader: ranks spelled out. */
        const kept = new Map<CommRuntime, Map<number, number>>()
        await run(
          async (world) => {
            const options: SplitOptions = { table: 'distributed', sorters, tableGroup, selfHostRows: most }
            const color = given.color[world.rank]
            const part = await world.split(color < 0 ? null : color, given.key[world.rank], options)
            if (part === null) return
            const { table, runtime, localRanks, leader } = part.seat().state
            // A communicator wholly in one process costs no more than the items of its own ranks.
            if (table.kind !== 'replicated' || localRanks.length === part.size) return
            const ofProcess = kept.get(runtime) ?? new Map<number, number>()
            kept.set(runtime, ofProcess)
            ofProcess.set(leader, part.size)
          },
          { ranks, fabric: local({ processes, seed }) },
        )
        for (const ofProcess of kept.values()) {
          expect([...ofProcess.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(most)
        }
      }),
      { numRuns: cases(20, 8) },
    )
  })

  it('tables never exceed the size that maxTableBytes is compared with', async () => {
    const asked = fc.record({
      algorithm: fc.constantFrom('parallel-sort' as const, 'sample-sort' as const, 'minimal' as const),
      table: fc.constantFrom('distributed' as const, 'distributed' as const, 'replicated' as const),
      selfHostRows: fc.constantFrom(0, 7, undefined),
    })
    await fc.assert(
      fc.asyncProperty(anyCase, asked, async ({ layout, colors, keys }, { selfHostRows, ...kind }) => {
        const { ranks, processes, sorters, tableGroup, seed } = layout
        const given = splitCase(ranks, colorPatterns[colors], keyPatterns[keys], seededRandom(seed))
        const options: SplitOptions = {
          ...kind,
          sorters,
          tableGroup,
          ...(selfHostRows === undefined ? {} : { selfHostRows }),
        }
        const most = tableBytes(planSplit(ranks, processes, options), ranks, processes)
        const kept = new Map<CommRuntime, Map<number, number>>()
        await run(
          async (world) => {
            const color = given.color[world.rank]
            const part = await world.split(color < 0 ? null : color, given.key[world.rank], options)
            if (part === null) return
            const { runtime, leader } = part.seat().state
            const { table } = part.describe()
            if (table.kind === 'strided') return
            const ofProcess = kept.get(runtime) ?? new Map<number, number>()
            kept.set(runtime, ofProcess)
            ofProcess.set(leader, table.bytes)
            ofProcess.set(-1, Math.max(table.sharedBytes, ofProcess.get(-1) ?? 0))
          },
          { ranks, fabric: local({ processes, seed }) },
        )
        for (const ofProcess of kept.values()) {
          expect([...ofProcess.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(most)
        }
      }),
      { numRuns: cases(40, 10) },
    )
  })

  it('no message is left, and ids are equal within a color and different across colors', async () => {
    const kinds = fc.record({
      algorithm: fc.constantFrom(...splitAlgorithms),
      table: fc.constantFrom('distributed' as const, 'replicated' as const),
    })
    await fc.assert(
      fc.asyncProperty(anyCase, kinds, async ({ layout, colors, keys }, { algorithm, table }) => {
        const { ranks, processes, sorters, tableGroup, seed } = layout
        const given = splitCase(ranks, colorPatterns[colors], keyPatterns[keys], seededRandom(seed))
        const options: SplitOptions = gathers(algorithm)
          ? { algorithm }
          : { algorithm, table, tableGroup, ...(algorithm === 'minimal' ? {} : { sorters }) }
        const runtimes = new Set<CommRuntime>()
        const ids: (string | undefined)[] = []
        await run(
          async (world: Communicator) => {
            const { runtime, collectives } = world.seat().state
            const aside = await world.dup()
            const color = given.color[world.rank]
            const part = await world.split(color < 0 ? null : color, given.key[world.rank], options)
            // An exchange is spared for the next collective only if it retains no message and no receive is
            // pending.
            const lane = [...collectives.lanes].find(({ id }) => id === plainLane)!
            expect(lane.slots.size).toBe(0)
            expect(lane.spareExchange?.idle).toBe(true)
            runtimes.add(runtime)
            const id = part?.seat().state.id
            ids[world.rank] = id && `${id.leader}.${id.counter}`
            // Unused tables are released by messages that no rank awaits: to the home, then to the hosts.
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
      { numRuns: cases(25, 8) },
    )
  })
})
