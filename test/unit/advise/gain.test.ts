import { describe, expect, it } from 'vitest'
import { comparedRuns, findingOf, looksOf } from '../../../src/advise/gain.js'
import { seededRandom } from '../../../src/base/random.js'

/** Makes runs of a program that takes `seconds`, divided by `speedup` with the change, times noise of a share. */
function program(speedup: number, noise: number, seed: number) {
  const next = seededRandom(seed)
  const run = async (isChanged: boolean) => (1 + noise * next()) / (isChanged ? speedup : 1)
  const compared = async (mostPairs = 200) => (await comparedRuns(run, { mostPairs, hasTime: () => true }))!
  return { run, compared }
}

describe('comparing runs in pairs', () => {
  it.each([
    { speedup: 1.3, noise: 0.1, finding: 'faster' },
    { speedup: 1.08, noise: 0.05, finding: 'faster' },
    { speedup: 1, noise: 0.02, finding: 'same' },
    { speedup: 0.8, noise: 0.1, finding: 'slower' },
  ])(
    'finds a program $speedup times as fast to be $finding, for 20 seeds',
    async ({ speedup, noise, finding }) => {
      for (let seed = 1; seed <= 20; seed++) {
        const gain = await program(speedup, noise, seed).compared()
        expect(findingOf(gain), `seed ${seed}`).toBe(finding)
        expect(gain.pairs).toBeLessThan(200)
      }
    },
  )

  it('takes turns in who is first', async () => {
    const order: boolean[] = []
    const run = async (isChanged: boolean) => {
      order.push(isChanged)
      return isChanged ? 1 : 2
    }
    const gain = await comparedRuns(run, { mostPairs: 3, hasTime: () => true })
    expect(order).toEqual([false, true, true, false, false, true])
    expect(gain).toEqual({ pairs: 3, ratio: 2, interval: null })
  })

  it('says nothing of fewer than six pairs, and ends when there is no time', async () => {
    let pairs = 0
    const gain = await comparedRuns(async (isChanged) => (isChanged ? 1 : 3), {
      mostPairs: 100,
      hasTime: () => ++pairs < 6,
    })
    expect(gain?.pairs).toBe(5)
    expect(findingOf(gain!)).toBe('open')
  })

  it('begins no pair without time, and no second run after the end of the time', async () => {
    let runs = 0
    const run = async () => ++runs
    expect(await comparedRuns(run, { mostPairs: 9, hasTime: () => false })).toBeNull()
    expect(runs).toBe(0)
    const gain = await comparedRuns(run, { mostPairs: 9, hasTime: () => true, isOver: () => runs === 3 })
    expect(runs).toBe(3)
    expect(gain?.pairs).toBe(1)
  })

  it('looks at few numbers of pairs, which share the 5%', () => {
    expect(looksOf(41)).toEqual([11, 16, 23, 33, 41])
    expect(looksOf(5)).toEqual([5])
  })

  it('declares a gain of exactly 3% faster in at most 2.5% of 2,000 comparisons', async () => {
    let faster = 0
    for (let seed = 1; seed <= 2000; seed++) {
      const gain = await program(1.03, 0.3, seed).compared(41)
      if (findingOf(gain) === 'faster') faster++
    }
    expect(faster).toBeLessThanOrEqual(50)
  })
})
