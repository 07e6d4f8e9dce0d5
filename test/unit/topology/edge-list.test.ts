import { expect, test } from 'vitest'
import { formatEdgeList, parseEdgeList } from '../../../src/topology/edge-list.js'
import { topologyFromEdges } from '../../../src/topology/process-topology.js'
import { thrown } from './thrown.js'

test('edges in line order; comments and blank lines do not count', () => {
  const topology = parseEdgeList('# header\r\n2 0\r\n\n0\t1  # aside\n 2 0 \n')
  expect(topology).toEqual(topologyFromEdges(3, { sources: [2, 0, 2], destinations: [0, 1, 0] }))
})

test('weights', () => {
  expect(parseEdgeList('0 1 0.5\n1 0 -2e3').outWeight).toEqual(Float64Array.of(0.5, -2000))
})

test('the number of ranks may be given, then there may be no edges', () => {
  expect(parseEdgeList('ranks 5\n0 1').ranks).toBe(5)
  expect(parseEdgeList('# none\nranks 2').outRank).toHaveLength(0)
})

test('formatEdgeList writes what parseEdgeList reads', () => {
  const topology = parseEdgeList('ranks 4\n0 1 1.5\n0 0 2\n2 1 3')
  expect(formatEdgeList(topology)).toBe('ranks 4\n0 1 1.5\n0 0 2\n2 1 3\n')
  expect(parseEdgeList(formatEdgeList(topology))).toEqual(topology)
})

test.each([
  ['', 1, "edges, or a line 'ranks N', got the end of the text"],
  ['# only this', 1, "edges, or a line 'ranks N', got the end of the text"],
  ['0 1\n0', 2, "'source destination [weight]', got '0'"],
  ['0 1\n0 1 2 3', 2, "'source destination [weight]', got '0 1 2 3'"],
  ['0 -1', 1, "a rank 0 to 16777215, got '-1'"],
  ['0 1.0', 1, "a rank 0 to 16777215, got '1.0'"],
  ['0 99999999', 1, "a rank 0 to 16777215, got '99999999'"],
  ['ranks 2\n0 2', 2, "a rank 0 to 1, got '2'"],
  ['ranks', 1, "'ranks N' with N from 1 to 16777216, got 'ranks'"],
  ['ranks 0', 1, "'ranks N' with N from 1 to 16777216, got 'ranks 0'"],
  ['ranks 99999999', 1, "got 'ranks 99999999'"],
  ['ranks 2\nranks 2', 2, "'ranks N' only once, before all edges, got 'ranks 2'"],
  ['0 1\nranks 2', 2, "'ranks N' only once, before all edges, got 'ranks 2'"],
  ['0 1\n0 1 2', 2, "no weight, as on the lines before, got '0 1 2'"],
  ['0 1 2\n0 1', 2, "a weight, as on the lines before, got '0 1'"],
  ['0 1 heavy', 1, "a number as weight, got 'heavy'"],
])('refuses %j', (text, line, message) => {
  const error = thrown(() => parseEdgeList(text, 'g.txt'))
  expect(error.code).toBe('ERR_TOPOLOGY')
  expect(error.message).toContain(`g.txt:${line}: expected `)
  expect(error.message).toContain(message)
  expect(error.details).toEqual({ file: 'g.txt', line })
})
