import { describe, expect, it } from 'vitest'
import { below, mulberry32 } from '../../../../src/base/random.js'
import { heuristicClusters, kMeansClusters } from '../../../../src/messages/matching-queues/cluster-lists.js'
import { countsOfSources, type QueueElement } from '../../../../src/messages/matching-queues/design.js'
import { makeMatchingDesign } from '../../../../src/messages/matching-queues/designs.js'
import { ANY_SOURCE } from '../../../../src/messages/matching-queues/entry-list.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/matching-trace.js'
import { countSources } from '../../../../src/messages/matching-queues/replay.js'
import { elementOf, passedBy } from '../../../support/matching-traces.js'

describe('the heuristic', () => {
  const times = (value: number, count: number) => new Array<number>(count).fill(value)

  it.each([
    [[2, 2, 10, 10, 50, 50, 100, 100], [0, 0, 0, 0, 0, 0, 1, 2], 4],
    // In any order of ranks.
    [[100, 2, 50, 10, 100, 50, 10, 2], [1, 0, 0, 0, 2, 0, 0, 0], 4],
    [times(5, 8), [0, 0, 1, 1, 2, 2, 3, 3], 8],
    [times(0, 8), times(0, 8), 1],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0, 0, 0, 0, 1, 1, 2, 2, 3, 4], 8],
    [[1000, ...times(1, 15)], times(0, 16), 2],
    [[], [], 1],
  ])('clusters %j', (counts, after, before) => {
    const { clusterOf, clusters } = heuristicClusters(counts)
    expect([...clusterOf]).toEqual(after)
    expect(clusters).toBe(1 + Math.max(0, ...after))
    expect(heuristicClusters(counts, 'before').clusters).toBe(before)
  })
})

describe('k-means', () => {
  /** Of a clustering, by its definition. */
  const objective = (counts: readonly number[], clusterOf: ArrayLike<number>) => {
    const of = new Map<number, number[]>()
    for (const [source, count] of counts.entries())
      of.set(clusterOf[source], [...(of.get(clusterOf[source]) ?? []), count])
    let sum = 0
    for (const members of of.values()) {
      const mean = members.reduce((a, b) => a + b) / members.length
      for (const count of members) sum += (count - mean) ** 2
    }
    return sum
  }
  /** The least objective of all assignments. */
  const optimum = (counts: readonly number[], k: number) => {
    let least = Number.POSITIVE_INFINITY
    for (let code = 0; code < k ** counts.length; code++) {
      const clusterOf = counts.map((_, i) => Math.floor(code / k ** i) % k)
      least = Math.min(least, objective(counts, clusterOf))
    }
    return least
  }

  it('finds the least sum of squares of all assignments', () => {
    const next = mulberry32(7)
    for (let round = 0; round < 60; round++) {
      const counts = Array.from({ length: 1 + below(next, 7) }, () => below(next, round % 2 === 0 ? 6 : 1000))
      const k = 1 + below(next, 3)
      const { clusterOf, clusters } = kMeansClusters(counts, k)
      expect(objective(counts, clusterOf)).toBeCloseTo(optimum(counts, k), 6)
      expect(new Set(clusterOf).size).toBe(clusters)
    }
  })

  it('of more clusters than distinct counts makes one per count', () => {
    const { clusterOf, clusters } = kMeansClusters([3, 1, 3, 1, 9], 128)
    expect([...clusterOf]).toEqual([1, 0, 1, 0, 2])
    expect(clusters).toBe(3)
    expect(kMeansClusters([], 4)).toEqual({ clusterOf: new Int32Array(0), clusters: 1 })
    expect(kMeansClusters([0, 0], 2).clusters).toBe(1)
  })
})

describe('counts of an earlier run', () => {
  const trace: MatchingOperation[] = [
    { kind: 'arrive', context: 0, source: 1, tag: 0 },
    { kind: 'arrive', context: 0, source: 1, tag: 1 },
    { kind: 'arrive', context: 5, source: 2, tag: 0 },
    // Matched at once: in neither queue.
    { kind: 'post', context: 0, source: 1, tag: 0 },
    { kind: 'post', context: 0, source: 3, tag: 0 },
    { kind: 'post', context: 0, source: ANY_SOURCE, tag: 7 },
    { kind: 'probe', context: 0, source: 2, tag: 0 },
    { kind: 'mprobe', context: 0, source: 0, tag: 0 },
    { kind: 'arrive', context: 0, source: 3, tag: 0 },
    { kind: 'cancel', receive: 2 },
  ]

  it('hold what a trace adds to each queue, by context and source', () => {
    const { posted, unexpected } = countSources(trace, { processes: 4 })
    expect([...posted]).toEqual([[0, Float64Array.of(0, 0, 0, 1)]])
    expect([...unexpected]).toEqual([
      [0, Float64Array.of(0, 2, 0, 0)],
      [5, Float64Array.of(0, 0, 1, 0)],
    ])
    expect([...countsOfSources(unexpected, 4)]).toEqual([0, 2, 1, 0])
  })
})

describe('lists of clusters', () => {
  it('hold all elements of a source in one list', () => {
    const counts = { posted: new Map(), unexpected: new Map([[0, [0, 50, 1, 1, 50]]]) }
    const design = makeMatchingDesign<QueueElement>(
      { name: 'clusters', options: { method: 'k-means', k: 2 } },
      'unexpected',
      { processes: 5, counts },
    )
    for (const source of [1, 2, 4, 1, 3]) design.insert(elementOf(source))
    const passed = (source: number) => passedBy(design, () => design.search(elementOf(source)))
    // The list of 1 and 4, then that of 0, 2 and 3.
    expect([passed(4), passed(3), passed(1), passed(1), passed(2)]).toEqual([2, 2, 1, 1, 1])
    expect(design.counters()).toMatchObject({ queues: 2, overheadBytes: 2 * 16 + 5 * 4 })
  })
})
