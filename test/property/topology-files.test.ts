import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRankweaveError } from '../../src/errors.js'
import { sourceOf } from '../../src/text/byte-source.js'
import { parseCsv } from '../../src/topology/files/csv.js'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { type topologyFormats, topologyText } from '../../src/topology/files/format-topology.js'
import { parseGraphologyJson } from '../../src/topology/files/graphology-json.js'
import { topologyFromMatrixMarket } from '../../src/topology/files/matrix-market.js'
import { parseMetis } from '../../src/topology/files/metis.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { outNeighbors } from '../../src/topology/neighbors.js'
import { checkTopology, type ProcessTopology } from '../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import { multigraphs, topologyOf } from '../support/multigraphs.js'
import { cases, demanded } from '../support/soak.js'
import { pipeOf } from '../support/sources.js'

const textOf = (topology: ProcessTopology, format: (typeof topologyFormats)[number]) =>
  [...topologyText(topology, format)].join('')

/** Symmetric and simple: what every format can hold. */
const simpleGraphs = multigraphs.map(({ ranks, edges }) => {
  const pairs = new Map<number, readonly [number, number, number]>()
  for (const [p, q, weight] of edges) {
    const whole = Number.isFinite(weight) ? 1 + (Math.abs(Math.trunc(weight)) % 1000) : 1
    if (p !== q) pairs.set(Math.min(p, q) * ranks + Math.max(p, q), [p, q, whole])
  }
  const both = [...pairs.values()].flatMap(([p, q, w]) => [[p, q, w] as const, [q, p, w] as const])
  return { ranks, edges: both }
})

/** Destinations of every rank in order, and their weights. */
const sending = (topology: ProcessTopology) => ({
  lists: Array.from({ length: topology.ranks }, (_, p) => [...outNeighbors(topology, p)]),
  weights: topology.outWeight === null ? null : [...topology.outWeight],
})

describe('a written topology reads back', () => {
  test('graphology: the same lists and weights on both sides', () => {
    const finite = multigraphs.filter(({ edges }) => edges.every(([, , weight]) => Number.isFinite(weight)))
    fc.assert(
      fc.property(finite, fc.boolean(), (graph, weighted) => {
        const topology = topologyOf(graph, weighted)
        expect(parseGraphologyJson(pipeOf(textOf(topology, 'graphology'), 100))).toEqual(topology)
      }),
      { numRuns: cases(100, 120) },
    )
  })

  test.each(['csv', 'edges'] as const)('%s: any multigraph, destinations in order, weights', (format) => {
    fc.assert(
      fc.property(multigraphs, fc.boolean(), fc.integer({ min: 1, max: 9 }), (graph, weighted, piece) => {
        const topology = topologyOf(graph, weighted)
        const back = buildTopology(`${format}:f`, { open: () => pipeOf(textOf(topology, format), piece) })
        checkTopology(back)
        expect(back.ranks).toBe(topology.ranks)
        expect(sending(back)).toEqual(sending(topology))
      }),
      { numRuns: cases(100, 120) },
    )
  })

  test('metis: symmetric simple graphs, whole weights', () => {
    fc.assert(
      fc.property(simpleGraphs, fc.boolean(), fc.integer({ min: 1, max: 9 }), (graph, weighted, piece) => {
        const topology = topologyOf(graph, weighted)
        const back = parseMetis(pipeOf(textOf(topology, 'metis'), piece)).topology
        checkTopology(back)
        expect(sending(back)).toEqual(sending(topology))
      }),
      { numRuns: cases(100, 120) },
    )
  })

  test('mtx: simple graphs, as sets', () => {
    fc.assert(
      fc.property(multigraphs, fc.boolean(), ({ ranks, edges }, weighted) => {
        const distinct = new Map(edges.map((edge) => [edge[0] * ranks + edge[1], edge]))
        const simple = [...distinct.values()].filter(([p, q, w]) => p !== q && Number.isFinite(w))
        const topology = topologyOf({ ranks, edges: simple }, weighted)
        const back = topologyFromMatrixMarket(sourceOf(textOf(topology, 'mtx')), { ranks })
        const sorted = sending(topology).lists.map((list) => list.sort((a, b) => a - b))
        expect(sending(back).lists).toEqual(sorted)
      }),
      { numRuns: cases(100, 120) },
    )
  })

  test.each([
    ['metis', [0, 0], null, 'edge from 0 to 0'],
    ['metis', [0, 1], null, 'edge from 0 to 1'],
    ['metis', [0, 1, 1, 0, 1, 0], null, 'edge from 1 to 0'],
    ['metis', [0, 1, 1, 0], [1, 2], 'edge from 0 to 1'],
    ['metis', [0, 1, 1, 0], [0.5, 0.5], 'edge from 0 to 1'],
    ['mtx', [1, 1], null, 'edge from 1 to 1'],
    ['mtx', [0, 1, 0, 1], null, 'edge from 0 to 1'],
    ['mtx', [0, 1], [Infinity], 'edge from 0 to 1'],
    ['graphology', [0, 1], [-Infinity], 'edge from 0 to 1'],
  ] as const)('%s refuses what it cannot hold: %j, weights %j', (format, ends, weights, message) => {
    const topology = topologyFromEdges(2, {
      sources: ends.filter((_, i) => i % 2 === 0),
      destinations: ends.filter((_, i) => i % 2 === 1),
      weights,
    })
    expect(() => textOf(topology, format)).toThrow(message)
  })
})

/** Of each reader: 1,000 in every test run, 100,000 in every soak run. */
const fuzzCases = demanded(100_000, 1_000)

describe(`${fuzzCases} mutated files: read, or refused with a place`, () => {
  const snippet = fc.oneof(
    fc.constantFrom(
      '9999999999',
      '-1',
      '1e999',
      'NaN',
      '\n',
      ' ',
      '0',
      '%',
      '#',
      '"',
      ',',
      '\r',
      '\0',
      '{',
      ']',
    ),
    fc.constantFrom('1', '2', ' 3', '\n\n', 'null', '1.5', '7 7', '011', '\\', '\u2028', '67108864', ':'),
    fc.string({ maxLength: 5, unit: 'binary' }),
  )
  const change = fc.record({ at: fc.nat(), cut: fc.nat(6), insert: snippet })

  test.each([
    [
      'metis',
      (bytes: Uint8Array) => parseMetis(sourceOf(bytes), 'fuzz').topology,
      ['4 3\n3 2\n% c\n1 3\n2 1\n\n', '3 2 11 2\n1 0 2 5\n2 2 1 5 3 6\n0 0 2 6\n', '2 1 100\n3 2\n4 1\n'],
    ],
    [
      'csv',
      (bytes: Uint8Array) => parseCsv(sourceOf(bytes), { file: 'fuzz' }),
      ['0,1\n1,2\n# c\n4,\n', 'id,from,"to",weight\n"a, ""b""",0,1,2.5\n,"1",0,-3e2\n', '0,1,2\n1,0,3\n'],
    ],
    [
      'edges',
      (bytes: Uint8Array) => parseEdgeList(sourceOf(bytes), 'fuzz'),
      ['ranks 4\n0 1 2.5 # x\n3 0 1\n', '0 1\n1 0\n'],
    ],
    [
      'graphology',
      (bytes: Uint8Array) => parseGraphologyJson(sourceOf(bytes), { file: 'fuzz' }),
      [
        '{"options":{"type":"mixed"},"nodes":[{"key":"a"},{"key":1}],\n"edges":[{"source":"a","target":1,"undirected":true}]}',
        '{"nodes":[{"key":"0"},{"key":"1"}],"edges":[{"source":"0","target":"1","attributes":{"outSlot":0,"inSlot":0,"weight":2,"inWeight":3}}]}',
      ],
    ],
    [
      'mtx',
      (bytes: Uint8Array) => topologyFromMatrixMarket(sourceOf(bytes), { ranks: 3, file: 'fuzz' }),
      [
        '%%MatrixMarket matrix coordinate real general\n% c\n3 4 4\n1 1 1.5\n2 3 -2e-3\n3 4 0\n1 4 7\n',
        '%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 3\n4 2\n',
        '%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -6\n',
        '%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n0 2\n0 0\n',
      ],
    ],
  ] as const)('%s', (_, parse, texts) => {
    const files = texts.map((text) => new TextEncoder().encode(text))
    let read = 0
    let refused = 0
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(change, { maxLength: 3 }), (file, changes) => {
        let bytes = [...file]
        for (const { at, cut, insert } of changes) {
          const from = at % (bytes.length + 1)
          bytes = [...bytes.slice(0, from), ...new TextEncoder().encode(insert), ...bytes.slice(from + cut)]
        }
        try {
          const topology = parse(Uint8Array.from(bytes))
          // No more memory than a file of this length can justify, but for ranks, which edges may skip.
          if (topology.outRank.length > 2 * bytes.length) throw new Error(`${topology.outRank.length} edges`)
          if (topology.ranks < 1000) checkTopology(topology)
          read++
        } catch (error) {
          if (!isRankweaveError(error, 'ERR_TOPOLOGY', 'ERR_MATRIX_MARKET', 'ERR_FILE')) throw error
          if (error.code === 'ERR_FILE') expect(error.message).toContain('expected UTF-8 text')
          else {
            expect(error.message).toMatch(/^fuzz:\d+:\d+: /)
            expect(error.details['line']).toBeGreaterThan(0)
            expect(error.details['column']).toBeGreaterThan(0)
          }
          refused++
        }
      }),
      { numRuns: fuzzCases },
    )
    // A fuzz test that reaches only one of the two outcomes tests little.
    expect(read).toBeGreaterThan(100)
    expect(refused).toBeGreaterThan(100)
  })
})
