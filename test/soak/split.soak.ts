import { expect, it } from 'vitest'
import { run } from '../../src/launch/run.js'
import { demanded } from '../support/soak.js'
import type { Calm, Storm } from '../support/split-storm.js'

const program = new URL('../support/split-storm.ts', import.meta.url)

/** 500 bytes per cycle would be more; a communicator or a table that stays takes kilobytes. */
const mostGrownBytes = 4 * 2 ** 20

const cycles = demanded(10_000, 2_000)

it(`${cycles} nested cycles of split, dup and free on threads leave nothing behind`, async () => {
  const calm = await run<Calm, Storm>(program, {
    ranks: 12,
    fabric: 'threads',
    processes: 2,
    args: { cycles, seed: 1, weigh: true },
  })
  for (const { contexts, tables, grownBytes } of calm) {
    expect({ contexts, tables }).toEqual({ contexts: 0, tables: 0 })
    expect(grownBytes).toBeLessThan(mostGrownBytes)
  }
})
