import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { type Communicator, type LocalOptions, local, RankweaveError, run } from 'rankweave'
import { algorithmOf, algorithms, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { evaluated, type Found, type Lengths, runInWorld } from '../support/program-worlds.js'
import { withWaits } from '../support/random-waits.js'
import { chooseBy } from '../support/schedule-faults.js'
import { cases } from '../support/soak.js'
import { interpret } from '../support/value-interpreter.js'

/** Messages past 256 bytes are offered: of lengths up to 60 elements some are. */
const eagerLimitBytes = 256
const runs = 2

/** A collective of the library on ranks anywhere, with waits or without, with parts of unequal length, some of them empty. */
const collectives = fc
  .record({
    ranksPerProcess: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
    segments: fc.integer({ min: 1, max: 3 }),
    lengths: fc.array(fc.constantFrom(0, 1, 7, 60), { minLength: 1, maxLength: 5 }),
    seed: fc.nat(),
    reversed: fc.boolean(),
    waits: fc.boolean(),
  })
  .chain((drawn) => {
    const ranks = drawn.ranksPerProcess.reduce((sum, count) => sum + count, 0)
    const shape = { ranks, root: drawn.seed % ranks, segments: drawn.segments }
    const serving = algorithms.filter(({ refuses }) => (refuses?.(shape) ?? null) === null)
    return fc.constantFrom(...serving).map((algorithm) => {
      const schedule = scheduleOf(algorithm, shape)
      const waiting = drawn.waits ? withWaits(schedule, chooseBy(drawn.seed)) : schedule
      return { ...drawn, id: algorithm.id, schedule: waiting }
    })
  })

/** Parts that are combined are equally long on all ranks; other blocks may differ. */
function lengthsOf({ specification }: Schedule, lengths: readonly number[]): Lengths {
  const { slotTerm, partStart } = specification
  const parts = slotTerm.some((term) => term < 0) ? partStart[1] : Number.POSITIVE_INFINITY
  return (term) => lengths[(term < 0 ? ~term : term % parts) % lengths.length]
}

/**
 * Runs it on every rank of a communicator; its ranks lie on processes in another order where they are
 * reversed.
 */
async function foundIn(
  {
    schedule,
    lengths,
    ranksPerProcess,
    reversed,
  }: typeof collectives extends fc.Arbitrary<infer C> ? C : never,
  options: LocalOptions,
  observed: Found[] = [],
  interrupt: (comm: Communicator) => Promise<void> = async () => {},
): Promise<Found[]> {
  const main = async (world: Communicator) => {
    const comm = await world.split(0, reversed ? (world.rank * 5) % world.size : 0)
    await world.barrier()
    const interrupted = interrupt(comm)
    const found = await runInWorld(comm, schedule, lengthsOf(schedule, lengths), runs)
    observed.push(found)
    await interrupted
    return { rank: comm.rank, found }
  }
  const all = await run(main, {
    ranks: schedule.specification.ranks,
    eagerLimitBytes,
    fabric: local({ ranksPerProcess, ...options }),
  })
  return all.sort((a, b) => a.rank - b.rank).map(({ found }) => found)
}

function expectedOf(schedule: Schedule, lengths: Lengths): Found[] {
  return interpret(schedule).slots.map((row, rank) => ({
    slots: Array.from({ length: runs }, (_, n) =>
      row.map((value, slot) => {
        const term = schedule.specification.slotTerm[schedule.specification.slotStart[rank] + slot]
        // A reduction has the length of its parts, whose number is that of any of its blocks.
        const length = lengths(term >= 0 ? term : firstBlock(schedule, ~term))
        return Array.from({ length }, (__, i) => evaluated(value!, i, n))
      }),
    ),
  }))
}

function firstBlock({ specification: { reductions } }: Schedule, reduction: number): number {
  return reductions.first[reductions.runStart[reduction]]
}

/** Whether nothing was written once a rank had failed. */
function expectQuiet(observed: readonly Found[], codes: Set<string>): void {
  for (const found of observed) {
    if ('slots' in found) continue
    codes.add(found.code)
    expect(found.isQuiet).toBe(true)
  }
}

describe('the programs of a collective', () => {
  test('leave what the schedule demands, in any order of delivery, eager or offered', async () => {
    await fc.assert(
      fc.asyncProperty(collectives, async (collective) => {
        const { schedule, lengths, seed } = collective
        const found = await foundIn(collective, { seed, faults: { delay: seed % 9 }, scribble: true })
        expect({ id: collective.id, found }).toEqual({
          id: collective.id,
          found: expectedOf(schedule, lengthsOf(schedule, lengths)),
        })
      }),
      { numRuns: cases(120) },
    )
  })

  test('end with a code and write nothing afterwards when a process is lost', async () => {
    const codes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(collectives, fc.integer({ min: 0, max: 40 }), async (collective, afterFrames) => {
        const { ranksPerProcess, seed } = collective
        const kill = [{ process: seed % ranksPerProcess.length, afterFrames }]
        const observed: Found[] = []
        await foundIn({ ...collective, reversed: false }, { seed, faults: { kill } }, observed).catch(
          () => {},
        )
        expectQuiet(observed, codes)
      }),
      { numRuns: cases(100) },
    )
    expect([...codes].sort()).toEqual(['ERR_PEER_LOST'])
  })

  test('end with a code and write nothing afterwards when their communicator is revoked', async () => {
    const codes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(collectives, fc.integer({ min: 0, max: 12 }), async (collective, turns) => {
        const { seed } = collective
        const observed: Found[] = []
        await foundIn(collective, { seed, faults: { delay: seed % 9 } }, observed, async (comm) => {
          if (comm.rank > 0) return
          const { collectives: engine } = comm.seat().state
          for (let i = 0; i < turns; i++) await turn()
          engine.revoke(new RankweaveError('ERR_REVOKED', 'revoked by the test'))
        })
        expect(observed).toHaveLength(collective.schedule.specification.ranks)
        expectQuiet(observed, codes)
      }),
      { numRuns: cases(100) },
    )
    expect([...codes].sort()).toEqual(['ERR_REVOKED'])
  })

  test.each([
    [60, 7],
    [7, 60],
  ])('fail with a code where a frame has %i elements and its receiver expects %i', async (sent, expected) => {
    const schedule = scheduleOf(algorithmOf('bcast-linear'), { ranks: 2 })
    const main = (world: Communicator) =>
      runInWorld(world, schedule, () => (world.rank === 0 ? sent : expected), 1)
    const [, found] = await run(main, { ranks: 2, fabric: local({ processes: 2 }) })
    expect(found).toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
  })
})
