import { local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import main, { rankCounts } from '../examples/jacobi-survivor.js'
import { cases } from './support/soak.js'

type Result = Awaited<ReturnType<typeof main>>

/** The result of whoever is rank 0 in the end. */
const solutionOf = (results: readonly (Result | undefined)[]) => results.find((result) => result != null)!

describe('the Jacobi solver that survives', () => {
  it.each(rankCounts)(
    'has every bit of the serial plate on %i ranks when no process is lost',
    async (ranks) => {
      const { differing, recoveries, survivors, sweeps } = solutionOf(
        await run((world) => main(world), { ranks, processes: Math.min(ranks, 3) }),
      )
      expect({ differing, recoveries, survivors }).toEqual({ differing: 0, recoveries: 0, survivors: ranks })
      expect(sweeps).toBeGreaterThan(100)
    },
  )

  it('has them whichever process is lost, and whenever', async () => {
    const [whole] = await run((world) => main(world), { ranks: 6, processes: 3 })
    let recovered = 0
    for (let n = 0; n < cases(10, 5); n++) {
      const fabric = local({
        processes: 3,
        seed: n,
        faults: { kill: [{ process: n % 3, afterFrames: 37 * n + 20 }] },
      })
      const results = await run((world) => main(world), { ranks: 6, fabric })
      const { recoveries, survivors, ...solution } = solutionOf(results)
      recovered += recoveries
      expect(survivors).toBe(recoveries > 0 ? 4 : 6)
      expect(solution).toMatchObject({ differing: 0, sweeps: whole!.sweeps })
      expect(solution.plate).toEqual(whole!.plate)
    }
    expect(recovered).toBeGreaterThan(0)
  })
})
