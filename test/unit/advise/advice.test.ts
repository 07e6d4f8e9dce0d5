import { describe, expect, it } from 'vitest'
import { advised, type ProgramRuns, timeIsOver } from '../../../src/advise/advice.js'
import { type ChangeName, changeNames } from '../../../src/advise/changes.js'

const possible = changeNames.map((name) => ({ name, share: 0.5, what: `by ${name}` }))

/** Runs of a program that takes 2 s, and 1 s with some changes; a pair is decided after `mostPairs`. */
function runsOf(faster: readonly ChangeName[], others: Partial<ProgramRuns> = {}): ProgramRuns {
  return {
    run: async (changes) => (changes.some((name) => faster.includes(name)) ? 1 : 2),
    prepare: async () => ({}),
    boundsOf: () => ({ mostPairs: 11, hasTime: () => true }),
    isEarlyEnd: () => true,
    ...others,
  }
}

describe('an advice', () => {
  it('tries what gained together', async () => {
    const advice = await advised({ possible, impossible: [] }, runsOf(['placement', 'collective settings']))
    expect(advice.together?.ratio).toBe(2)
    expect(advice.advised).toEqual(['placement', 'collective settings'])
  })

  it('names every change that an early end leaves, and starts no run after it', async () => {
    let runs = 0
    const advice = await advised(
      { possible, impossible: [] },
      runsOf([], {
        run: async () => ++runs,
        prepare: async () => {
          throw new Error('Ctrl-C')
        },
      }),
    )
    expect(runs).toBe(0)
    expect(advice.untried.map(({ name, reason }) => [name, reason])).toEqual(
      changeNames.map((name) => [name, 'the runs were ended before']),
    )
    expect(advice.verdict).toContain('The runs do not say yet')
  })

  it('does not say that there is nothing to gain while a change lacks time', async () => {
    const prepare: ProgramRuns['prepare'] = async (name) => (name === 'placement' ? {} : timeIsOver)
    const advice = await advised({ possible, impossible: [] }, runsOf([], { prepare }))
    expect(advice.tried.map(({ finding }) => finding)).toEqual(['same'])
    expect(advice.verdict).toBe(
      'The runs do not say yet whether this pays: ' +
        'neighborhood plans, not tried: the time was over (it can touch at most 50% of the time); ' +
        'collective settings, not tried: the time was over (it can touch at most 50% of the time). ' +
        'More pairs (--minutes, --pairs) or a quieter machine would.',
    )
  })
})
