import { describe, expect, it } from 'vitest'
import { collectivePatterns, sourcesOfCall } from '../../../support/collective-streams.js'
import { matchingWorkloadNames, workloadTrace } from '../../../support/matching-workloads.js'
import { replayTrace } from '../../../support/replay-trace.js'

describe('collective streams', () => {
  it('have the sources of their schedules', () => {
    expect(sourcesOfCall('ring', 4, 0)).toEqual([3, 3, 3])
    expect(sourcesOfCall('ring', 4, 2)).toEqual([1, 1, 1])
    expect(sourcesOfCall('fan-in', 4, 0)).toEqual([1, 2, 3])
    expect(sourcesOfCall('fan-in', 4, 1)).toEqual([])
    expect(sourcesOfCall('fan-out', 4, 3)).toEqual([0])
    expect(sourcesOfCall('binomial-in', 8, 0)).toEqual([1, 2, 4])
    expect([1, 2, 3, 4, 5, 6, 7].map((rank) => sourcesOfCall('binomial', 8, rank))).toEqual(
      [0, 0, 2, 0, 4, 4, 6].map((parent) => [parent]),
    )
  })

  it.each([1, 2, 3, 7, 8, 16])('up and down a tree of %d ranks are the same edges', (processes) => {
    const edges = (pattern: 'binomial' | 'binomial-in') =>
      Array.from({ length: processes }, (_, rank) =>
        sourcesOfCall(pattern, processes, rank).map((source) =>
          pattern === 'binomial' ? `${source} ${rank}` : `${rank} ${source}`,
        ),
      ).flat()
    expect(edges('binomial').sort()).toEqual(edges('binomial-in').sort())
    expect(edges('binomial')).toHaveLength(processes - 1)
  })

  it('of one rank are empty', () => {
    for (const pattern of collectivePatterns) expect(sourcesOfCall(pattern, 1, 0)).toEqual([])
  })
})

describe.each(matchingWorkloadNames)('%s', (name) => {
  const processes = 64

  it('is the same trace for the same options, and another for another seed', () => {
    const trace = (seed: number) => [...workloadTrace(name, { processes, seed, wildcards: 0.2 })]
    expect(trace(1)).toEqual(trace(1))
    expect(trace(2)).not.toEqual(trace(1))
  })

  it('receives every message, in each order of arrival', () => {
    for (const unexpected of [0, 0.5, 1]) {
      const trace = workloadTrace(name, { processes, unexpected })
      const replayed = replayTrace(trace, { name: 'list' }, { processes })
      expect(replayed.operations).toBeGreaterThan(100)
      expect([replayed.posted.size, replayed.unexpected.size]).toEqual([0, 0])
      if (unexpected === 1) expect(replayed.posted.inserted).toBe(0)
      if (unexpected === 0) expect(replayed.unexpected.inserted).toBe(0)
    }
  })

  it.each([1, 2, 3])('is a trace on %d processes', (processes) => {
    const trace = workloadTrace(name, { processes })
    expect(() => replayTrace(trace, { name: 'list' }, { processes })).not.toThrow()
  })
})

it('is generated while it is read', () => {
  const trace = workloadTrace('hotspot', { processes: 16, rounds: Number.POSITIVE_INFINITY })
  for (let i = 0; i < 10_000; i++) expect(trace.next().done).toBe(false)
})
