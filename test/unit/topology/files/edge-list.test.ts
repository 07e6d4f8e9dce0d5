import { expect, test } from 'vitest'
import { parseCsv } from '../../../../src/topology/files/csv.js'
import { edgeListText, parseEdgeList } from '../../../../src/topology/files/edge-list.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { expectRefusal } from '../thrown.js'

test('parseEdgeList reads edges in line order and skips comments and blank lines', () => {
  const topology = parseEdgeList('# header\r\n2 0\r\n\n0\t1  # aside\n 2 0 \n')
  expect(topology).toEqual(topologyFromEdges(3, { sources: [2, 0, 2], destinations: [0, 1, 0] }))
})

test('parseEdgeList reads weights', () => {
  expect(parseEdgeList('0 1 0.5\n1 0 -2e3').outWeight).toEqual(Float64Array.of(0.5, -2000))
})

test('parseEdgeList and parseCsv read infinite weights of Python and R', () => {
  const weights = Float64Array.of(Infinity, -Infinity)
  expect(parseEdgeList('0 1 inf\n1 0 -Inf').outWeight).toEqual(weights)
  expect(parseCsv('0,1,"inf"\n1,0,-Inf').outWeight).toEqual(weights)
})

test('parseEdgeList reads the attributes that networkx writes', () => {
  expect(parseEdgeList('0 1 {}\n1 0 {}')).toEqual(
    topologyFromEdges(2, { sources: [0, 1], destinations: [1, 0] }),
  )
  expect(parseEdgeList("0 1 {'color': 'red', 'weight': 0.5}\n1 0 {'weight': -inf}").outWeight).toEqual(
    Float64Array.of(0.5, -Infinity),
  )
})

test('parseEdgeList accepts a number of ranks without edges', () => {
  expect(parseEdgeList('ranks 5\n0 1').ranks).toBe(5)
  expect(parseEdgeList('# none\nranks 2').outRank).toHaveLength(0)
})

test('edgeListText writes what parseEdgeList reads', () => {
  const topology = parseEdgeList('ranks 4\n0 1 1.5\n0 0 2\n2 1 3')
  const text = [...edgeListText(topology)].join('')
  expect(text).toBe('ranks 4\n0 1 1.5\n0 0 2\n2 1 3\n')
  expect(parseEdgeList(text)).toEqual(topology)
})

test.each([
  ['', "1:1 edges or a line 'ranks N', got the end of the text"],
  ['# only this', "1:12 edges or a line 'ranks N', got the end of the text"],
  ['0 1\n0', '2:2 a destination rank from 0 to 16777215, got the end of the line'],
  ['0 1\n0 1 2 3', "2:5 no weight, as on the lines before, got '2'"],
  ['0 1 2 3', "1:7 the end of the line, got '3'"],
  ['-1 0', "1:1 a source rank from 0 to 16777215, got '-1'"],
  ['0 -1', "1:3 a destination rank from 0 to 16777215, got '-1'"],
  ['0 1.0', "1:3 a destination rank from 0 to 16777215, got '1.0'"],
  ['0 99999999', "1:3 a destination rank from 0 to 16777215, got '99999999'"],
  ['ranks 2\n0 2', "2:3 a destination rank from 0 to 1, got '2'"],
  ['ranks', '1:6 a number of ranks from 1 to 16777216, got the end of the line'],
  ['ranks 0', "1:7 a number of ranks from 1 to 16777216, got '0'"],
  ['ranks 99999999', "1:7 got '99999999'"],
  ['ranks 2\nranks 2', "2:1 'ranks N' only once, before all edges, got 'ranks'"],
  ['0 1\n  ranks 2', "2:3 'ranks N' only once, before all edges, got 'ranks'"],
  ['0 1\n0 1 2', "2:5 no weight, as on the lines before, got '2'"],
  ['0 1 2\n0 1', '2:4 a weight, as on the lines before, got the end of the line'],
  ['0 1 2\n0 1 # 7', '2:5 a weight, as on the lines before, got the end of the line'],
  ["0 1 {'weight': 2}\n0 1 {}", '2:7 a weight, as on the lines before, got the end of the line'],
  ["0 1 {'weight': 'two'}", "1:5 a number as 'weight', got ''two''"],
  ["0 1 {'weight': 2", "1:17 '}' at the end of the line, got the end of the line"],
  ['0 1 heavy', "1:5 a number as weight, got 'heavy'"],
  ['0 1 NaN', "1:5 a number as weight, got 'NaN'"],
  ['0 1 0x1', "1:5 a number as weight, got '0x1'"],
  ['0 1 1e999', "1:5 a number as weight that a double can hold, got '1e999'"],
])('parseEdgeList rejects %j: %s', (text, at) =>
  expectRefusal(() => parseEdgeList(text, 'f'), 'ERR_TOPOLOGY', at),
)

test('parseEdgeList accepts infinite weights', () => {
  expect(parseEdgeList('0 1 -Infinity\n0 1 Infinity').outWeight).toEqual(Float64Array.of(-Infinity, Infinity))
})
