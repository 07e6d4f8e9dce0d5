import { describe, expect, it } from 'vitest'
import { advised, type ProgramRuns, timeIsOver, untriedText } from '../../../src/advise/advice.js'
import type { ChangeName } from '../../../src/advise/changes.js'

const changeNames = ['placement', 'neighborhood plans', 'collective settings'] as const
const possible = changeNames.map((name) => ({ name, share: 0.5, what: `by ${name}` }))

/** Runs of a program that takes 2 s, and 1 s with some changes; a pair is decided after `mostPairs`. */
function runsOf(faster: readonly ChangeName[], others: Partial<ProgramRuns> = {}): ProgramRuns {
  return {
    run: async (changes) => (changes.some((name) => faster.includes(name)) ? 1 : 2),
    prepare: async () => ({}),
    boundsOf: () => ({ mostPairs: 11, hasTime: () => true }),
    isEarlyEnd: () => true,
    failureOf: () => null,
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
        "neighborhood plans, not tried: the time was over (it can save at most 50% of the heaviest rank's time); " +
        "collective settings, not tried: the time was over (it can save at most 50% of the heaviest rank's time). " +
        'To decide, give it more time (--minutes) or a quieter machine.',
    )
  })

  /** Returns seconds that vary too much for a decision. */
  function alternating() {
    let run = 0
    return () => (run++ % 2 === 0 ? 1 : 3)
  }

  /** Runs of which each takes one unit of time, and bounds that share the units that are left. */
  function timedRuns(units: number, seconds: (changes: readonly ChangeName[]) => number) {
    let run = 0
    const names: string[] = []
    const runs = runsOf([], {
      run: async (changes) => {
        run++
        return seconds(changes)
      },
      boundsOf: (name, othersToFollow) => {
        const last = run + (units - run) / (othersToFollow + 1)
        names.push(name)
        return { mostPairs: 41, hasTime: () => run + 2 <= last }
      },
    })
    return { names, runs, used: () => run }
  }

  it('gives time that decided changes leave to one that is undecided, and judges it once', async () => {
    const varying = alternating()
    const { names, runs, used } = timedRuns(120, (changes) => (changes.includes('placement') ? varying() : 2))
    const advice = await advised({ possible, impossible: [] }, runs)
    expect(names).toEqual([...changeNames, 'placement'])
    const pairs = advice.tried.map(({ gain }) => gain.pairs)
    expect(pairs).toEqual([38, 11, 11])
    expect(used()).toBe(120)
    expect(advice.tried[0].finding).toBe('open')
  })

  it('leaves time to changes that gained for a comparison together', async () => {
    const varying = alternating()
    const { names, runs } = timedRuns(120, (changes) =>
      changes.length > 1 ? 0.5 : changes.includes('placement') ? varying() : 2 - changes.length,
    )
    const advice = await advised({ possible, impossible: [] }, runs)
    expect(names).toEqual([...changeNames, 'placement', 'neighborhood plans and collective settings'])
    expect(advice.together?.ratio).toBe(4)
    expect(advice.notTogether).toBeNull()
  })

  it('reports a run that did not end with a change, also if all that gained are tried together', async () => {
    const overdue = new Error('overdue')
    const failing = (fails: (changes: readonly ChangeName[]) => boolean) =>
      runsOf(['neighborhood plans', 'collective settings'], {
        run: async (changes) => {
          if (fails(changes)) throw overdue
          return changes.length === 0 || changes.includes('placement') ? 2 : 1
        },
        isEarlyEnd: () => false,
        failureOf: (error) => (error === overdue ? 'a run did not end' : null),
      })
    const alone = await advised(
      { possible, impossible: [] },
      failing((changes) => changes.includes('placement')),
    )
    expect(alone.untried.map((change) => `${change.name}: ${untriedText(change)}`)).toEqual([
      'placement: a run did not end',
    ])
    expect(alone.advised).toEqual(
      ['neighborhood plans', 'collective settings'].slice(0, alone.advised.length),
    )
    const together = await advised(
      { possible, impossible: [] },
      failing((changes) => changes.length > 1),
    )
    expect(together.together).toBeNull()
    expect(together.notTogether).toBe('a run did not end')
    expect(together.advised).toHaveLength(1)
  })
})
