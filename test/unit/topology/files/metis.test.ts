import { parseMetis, topologyFromLists } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { expectRefusal, thrown } from '../thrown.js'

/** Vertices 1-2, 1-3, 2-3 and a fourth without neighbors. */
const triangle = topologyFromLists({
  ranks: 4,
  outStart: [0, 2, 4, 6, 6],
  outRank: [2, 1, 0, 2, 1, 0],
  inStart: [0, 2, 4, 6, 6],
  inRank: [2, 1, 0, 2, 1, 0],
})

test('parseMetis reads a graph without weights: comments anywhere, an empty line is a vertex', () => {
  const graph = parseMetis('% c\n4 3\n3 2\n%\n1 3\n 2 1 \n\n')
  expect(graph).toEqual({ topology: triangle, vertexWeights: null, constraints: 0, vertexSizes: null })
})

const weighted = { outWeight: Float64Array.of(5, 7, 7, 9, 9, 5), inWeight: Float64Array.of(5, 7, 7, 9, 9, 5) }

test.each([
  ['0', '3 2|1 3|2 1|', false, null, null],
  ['1', '3 5 2 7|1 7 3 9|2 9 1 5|', true, null, null],
  ['001', '3 5 2 7|1 7 3 9|2 9 1 5|', true, null, null],
  ['10', '0 3 2|1 1 3|2 2 1|3', false, [0, 1, 2, 3], null],
  ['11', '0 3 5 2 7|1 1 7 3 9|2 2 9 1 5|3', true, [0, 1, 2, 3], null],
  ['010 2', '0 10 3 2|1 11 1 3|2 12 2 1|3 13', false, [0, 10, 1, 11, 2, 12, 3, 13], null],
  ['100', '8 3 2|9 1 3|10 2 1|11', false, null, [8, 9, 10, 11]],
  ['111 1', '8 0 3 5 2 7|9 1 1 7 3 9|10 2 2 9 1 5|11 3', true, [0, 1, 2, 3], [8, 9, 10, 11]],
] as const)('format %s', (format, lines, hasWeights, vertexWeights, vertexSizes) => {
  const graph = parseMetis(`4 3 ${format}\n${lines.replaceAll('|', '\n')}\n`)
  expect(graph.topology).toEqual(hasWeights ? { ...triangle, ...weighted } : triangle)
  expect(graph.vertexWeights).toEqual(vertexWeights === null ? null : Float64Array.from(vertexWeights))
  expect(graph.vertexSizes).toEqual(vertexSizes === null ? null : Float64Array.from(vertexSizes))
})

test.each([
  ['', "1:1 a line 'VERTICES EDGES [FORMAT [CONSTRAINTS]]', got the end of the file"],
  ['% x\n', "1:4 a line 'VERTICES EDGES [FORMAT [CONSTRAINTS]]', got the end of the file"],
  ['0 0\n', "1:1 the number of vertices from 1 to 16777216, got '0'"],
  ['99999999 0\n', "1:1 the number of vertices from 1 to 16777216, got '99999999'"],
  ['2\n', '1:2 the number of edges from 0 to 67108864, got the end of the line'],
  [
    '2 1 2\n2\n1\n',
    "1:5 a format of up to three digits 0 or 1: sizes, vertex weights, edge weights, got '2'",
  ],
  [
    '2 1 0001\n2\n1\n',
    "1:5 a format of up to three digits 0 or 1: sizes, vertex weights, edge weights, got '0001'",
  ],
  ['2 1 0 2\n2\n1\n', "1:7 no weights per vertex, as the format says, from 0 to 0, got '2'"],
  ['2 1 10 0\n2\n1\n', "1:8 the number of weights per vertex from 1 to 1024, got '0'"],
  ['2 1 10 1 1\n2\n1\n', "1:10 the end of the line, got '1'"],
  ['1000 1\n2\n1\n', '1:1 1000 vertices and 1 edges, got only 5 bytes after this line'],
  ['2 1000\n2\n1\n', '1:1 2 vertices and 1000 edges, got only 5 bytes after this line'],
  ['3 1\n2\n1', '3:2 3 lines of vertices, got the end of the file after 2'],
  ['2 1\n2\n1\n1\n', "4:1 the end of the file after 2 vertices, got '1'"],
  ['2 1\n3\n1\n', "2:1 a vertex from 1 to 2, got '3'"],
  ['2 1\n0\n1\n', "2:1 a vertex from 1 to 2, got '0'"],
  ['2 1\nx\n1\n', "2:1 a vertex from 1 to 2, got 'x'"],
  ['2 1\n2\n1.5\n', "3:1 a vertex from 1 to 2, got '1.5'"],
  ['2 1\n2\n 2\n', '3:2 no edge from a vertex to itself, got vertex 2 as its own neighbor'],
  ['3 2 1\n2 1 2 1\n1 1\n\n', '2:5 every neighbor once, got vertex 2 again for vertex 1'],
  ['3 1\n2\n1 3\n2\n', '3:3 2 neighbors, two for each of the 1 edges, got more'],
  ['3 2 \n2\n1\n   \n', '4:4 4 neighbors, two for each of the 2 edges, got 2'],
  ['2 1 1\n2\n1 1\n', '2:2 an edge weight from 1 to 9007199254740991, got the end of the line'],
  ['2 1 1\n2 0\n1 0\n', "2:3 an edge weight from 1 to 9007199254740991, got '0'"],
  ['2 1 1\n2 99999999999999999\n1 1\n', '2:3 an edge weight from 1 to 9007199254740991'],
  ['2 1 10\n-1 2\n1 1\n', "2:1 a vertex weight from 0 to 9007199254740991, got '-1'"],
  ['2 1 100\nNaN 2\n1 1\n', "2:1 the size of a vertex from 0 to 9007199254740991, got 'NaN'"],
])('parseMetis rejects %j: %s', (text, at) => expectRefusal(() => parseMetis(text, 'f'), 'ERR_TOPOLOGY', at))

test.each([
  ['3 1\n2\n3\n\n', 2, 0, 1, 'expected the same edge back, got none'],
  ['3 2\n2\n1 3\n1\n', 4, 2, 0, 'expected the same edge back, got none'],
  ['2 1 1\n2 4\n1 5\n', 2, 0, 1, 'expected the weight of the edge back, 5, got 4'],
])('parseMetis names an edge that only one end lists: %j', (text, line, source, destination, message) => {
  const error = thrown(() => parseMetis(text, 'g'))
  expect(error.code).toBe('ERR_TOPOLOGY')
  expect(error.message).toBe(`g:${line}:1: edge from ${source} to ${destination}: ${message}`)
  expect(error.details).toEqual({ file: 'g', line, column: 1, source, destination })
})
