import { describe, expect, it } from 'vitest'
import { below, mulberry32 } from '../../../../src/base/random.js'
import { ClusterLists } from '../../../../src/messages/matching-queues/cluster-lists.js'
import { countSources } from '../../../../src/messages/matching-queues/count-sources.js'
import { makeMatchingDesign } from '../../../../src/messages/matching-queues/designs.js'
import type { QueueElement } from '../../../../src/messages/matching-queues/element.js'
import { kMeansClusters } from '../../../../src/messages/matching-queues/k-means.js'
import { LinkedListDesign } from '../../../../src/messages/matching-queues/linked-list.js'
import {
  groupedSenders,
  groupOfSender,
  reverseSearch,
} from '../../../../src/messages/matching-queues/microbenchmarks.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/operation.js'
import { replayTrace } from '../../../../src/messages/matching-queues/replay.js'
import { RoutedDesign } from '../../../../src/messages/matching-queues/routed-design.js'
import { heuristicClusters } from '../../../../src/messages/matching-queues/source-clusters.js'
import {
  countsOfSources,
  matrixRows,
  matrixText,
} from '../../../../src/messages/matching-queues/source-counts.js'
import { ANY_SOURCE } from '../../../../src/messages/matching-queues/wildcards.js'
import { elementOf } from '../../../support/matching-traces.js'

/** Elements passed per search of the unexpected messages, with a list per cluster. */
function passedPerSearch(
  trace: Iterable<MatchingOperation>,
  clusterOf: (source: number) => number,
  clusters: number,
) {
  const sources = 2000
  const assigned = Int32Array.from({ length: sources }, (_, source) => (source === 0 ? 0 : clusterOf(source)))
  const lists = new ClusterLists<QueueElement>({ clusterOf: assigned, clusters })
  const design = new RoutedDesign(lists, { processes: sources })
  for (const operation of trace) {
    if (operation.kind === 'cancel') continue
    const element = elementOf(operation.source, operation.tag)
    if (operation.kind === 'arrive') design.insert(element)
    else if (design.search(element)?.tag !== operation.tag) throw new Error('the wrong message')
  }
  const { traversals, searches } = design.counters()
  return traversals / searches
}

describe('MB1, reverse search', () => {
  const rows = [
    [64, 315.5, 158],
    [512, 2555.5, 1278],
    [1024, 5115.5, 2558],
  ] as const

  it.each(rows)('%d processes of 10 messages: one list passes %d', (processes, one) => {
    const { unexpected } = replayTrace(reverseSearch(processes, 10), { name: 'list' }, { processes })
    expect(unexpected.traversals / unexpected.searches).toBe(one)
    expect(passedPerSearch(reverseSearch(processes, 10), () => 0, 1)).toBe(one)
  })

  it.each(rows)('%d processes of 10 messages, in two lists: %d / %d', (processes, _, two) => {
    const lists = [new LinkedListDesign<QueueElement>(), new LinkedListDesign<QueueElement>()]
    const messages = (processes - 1) * 10
    const inSecond = (source: number, tag: number) => (source - 1) * 10 + tag >= messages / 2
    for (const operation of reverseSearch(processes, 10)) {
      if (operation.kind === 'cancel') continue
      const { kind, source, tag } = operation
      const list = lists[inSecond(source, tag) ? 1 : 0]
      if (kind === 'arrive') list.insert(elementOf(source, tag))
      else list.search(elementOf(source, tag))
    }
    const [a, b] = lists.map((list) => list.counters())
    expect((a.traversals + b.traversals) / (a.searches + b.searches)).toBe(two)
    // Clusters do not cut the messages of the middle source in two.
    const bySource = passedPerSearch(
      reverseSearch(processes, 10),
      (source) => (source < processes / 2 ? 0 : 1),
      2,
    )
    expect(bySource).toBeCloseTo(two, 1)
  })
})

describe('MB2, grouping', () => {
  const groups = 'smlv'
  const inQueues =
    (...queues: string[]) =>
    (source: number, senders: number) =>
      queues.findIndex((queue) => queue.includes(groups[groupOfSender(source, senders)]))
  const configurations = {
    single: inQueues('smlv'),
    four: inQueues('s', 'm', 'l', 'v'),
    C1: inQueues('sm', 'lv'),
    C2: inQueues('sl', 'mv'),
    C3: inQueues('sv', 'ml'),
    C4: inQueues('sml', 'v'),
    C5: inQueues('mlv', 's'),
    C6: inQueues('smv', 'l'),
    C7: inQueues('slv', 'm'),
  }
  const passed = (senders: number) =>
    Object.fromEntries(
      Object.entries(configurations).map(([name, of]) => {
        const mean = passedPerSearch(groupedSenders(senders), (source) => of(source, senders), 4)
        return [name, Number(mean.toFixed(2))]
      }),
    )

  it.each([
    [1, [81.5, 39.4, 70.39, 46.19, 43.72, 43.23, 79.52, 46.93, 72.12]],
    [4, [324.5, 156.1, 280.06, 183.27, 173.39, 171.41, 316.6, 186.23, 286.97]],
  ])('%d processes per group', (senders, values) => {
    expect(Object.values(passed(senders))).toEqual(values)
  })

  it('two lists are as good as four where the heaviest group is apart, and no better than one without the lightest', () => {
    const { single, C3, C4, C5, C6 } = passed(1)
    expect(C4).toBeLessThan(C3)
    expect(C3).toBeLessThan(C6)
    expect(C5).toBeGreaterThan(0.97 * single)
  })
})

describe('the heuristic', () => {
  const times = (value: number, count: number) => new Array<number>(count).fill(value)

  it.each([
    [[2, 2, 10, 10, 50, 50, 100, 100], [0, 0, 0, 0, 0, 0, 1, 2], 4],
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

  it('closes a cluster before its load exceeds the limit, or after', () => {
    const counts = [2, 2, 10, 10, 50, 50, 100, 100]
    const loads = (check: 'before' | 'after') => {
      const { clusterOf, clusters } = heuristicClusters(counts, check)
      return Array.from({ length: clusters }, (_, k) =>
        counts.reduce((sum, count, source) => sum + (clusterOf[source] === k ? count : 0), 0),
      )
    }
    expect(loads('after')).toEqual([124, 100, 100])
    expect(loads('before')).toEqual([74, 50, 100, 100])
  })

  it('keeps every source with its count, in any order of ranks', () => {
    const { clusterOf } = heuristicClusters([100, 2, 50, 10, 100, 50, 10, 2])
    expect([...clusterOf]).toEqual([1, 0, 0, 0, 2, 0, 0, 0])
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
    for (let code = 0; code < k ** counts.length; code++)
      least = Math.min(
        least,
        objective(
          counts,
          counts.map((_, i) => Math.floor(code / k ** i) % k),
        ),
      )
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

  it('is the same again, for many sources, and gives intervals of counts', () => {
    const next = mulberry32(1)
    const counts = Array.from({ length: 4096 }, () => below(next, 100_000))
    const { clusterOf, clusters } = kMeansClusters(counts, 32)
    expect(clusters).toBe(32)
    expect(kMeansClusters(counts, 32).clusterOf).toEqual(clusterOf)
    const ascending = counts.map((_, source) => source).sort((a, b) => counts[a] - counts[b])
    for (let i = 1; i < ascending.length; i++)
      expect(clusterOf[ascending[i]]).toBeGreaterThanOrEqual(clusterOf[ascending[i - 1]])
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

  it('are the same after a text', () => {
    const rows = [Float64Array.of(0, 2, 1), Float64Array.of(2 ** 40, 0, 0), Float64Array.of(0, 0, 3)]
    expect(matrixText(rows)).toBe('3\n0 2 1\n1099511627776 0 0\n0 0 3\n')
    expect(matrixRows(matrixText(rows))).toEqual(rows)
    expect(matrixRows('0\n')).toEqual([])
  })

  it.each([
    ['', "line 1 of a matrix: expected the number of processes, at most 16384, got ''"],
    ['-1\n', "line 1 of a matrix: expected the number of processes, at most 16384, got '-1'"],
    ['99999\n', "line 1 of a matrix: expected the number of processes, at most 16384, got '99999'"],
    ['2\n0 1\n', 'line 2 of a matrix: expected 2 rows, got 1'],
    ['2\n0 1\n1\n', 'line 3 of a matrix: expected 2 integers, got 1'],
    ['2\n0 1\n1 x\n', "line 3 of a matrix: expected integers of at least 0, got 'x'"],
    ['1\n1.5\n', "line 2 of a matrix: expected integers of at least 0, got '1.5'"],
  ])('are refused in the text %j', (text, message) => {
    expect(() => matrixRows(text)).toThrow(expect.objectContaining({ code: 'ERR_FILE', message }))
  })

  it('are demanded by designs that start from them', () => {
    expect(() => makeMatchingDesign({ name: 'clusters' }, 'posted', { processes: 4 })).toThrow(
      expect.objectContaining({
        code: 'ERR_ARGUMENT',
        message: 'clusters: expected the counts of an earlier run',
      }),
    )
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
    const passed = (source: number) => {
      const before = design.counters().traversals
      design.search(elementOf(source))
      return design.counters().traversals - before
    }
    // The list of 1 and 4, then that of 0, 2 and 3.
    expect([passed(4), passed(3), passed(1), passed(1), passed(2)]).toEqual([2, 2, 1, 1, 1])
    expect(design.counters()).toMatchObject({ queues: 2, overheadBytes: 2 * 16 + 5 * 4 })
  })
})
