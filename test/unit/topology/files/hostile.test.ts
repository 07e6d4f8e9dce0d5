import { DirectedGraph, MultiGraph } from 'graphology'
import { machineFromHostList, parseMachine } from 'rankweave/machine'
import { parseMetis, readMatrixMarket, sourceOf } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { parseSchedule } from '../../../../src/schedule/file/reader.js'
import { parseCsv } from '../../../../src/topology/files/csv.js'
import { parseEdgeList } from '../../../../src/topology/files/edge-list.js'
import { topologyFromGraph } from '../../../../src/topology/files/graphology.js'
import { parseGraphologyJson } from '../../../../src/topology/files/graphology-json.js'

const long = 'x'.repeat(2 ** 20)
const banner = '%%MatrixMarket matrix coordinate real general\n'
const bytesOf = (text: string) => sourceOf(Buffer.from(text))
/** A graph of nodes `a` and `b`; edges begin on line 2, in column 10. */
const graphText = (edges: string, nodes = '{"key":"a"},{"key":"b"}') =>
  `{"nodes":[${nodes}],\n"edges":[${edges}]}`
const weighted = (attributes: string) => graphText(`{"source":"a","target":"b","attributes":{${attributes}}}`)

const readers = {
  csv: [(text: string) => parseCsv(bytesOf(text)), 'ERR_TOPOLOGY'],
  edges: [(text: string) => parseEdgeList(bytesOf(text)), 'ERR_TOPOLOGY'],
  metis: [(text: string) => parseMetis(bytesOf(text)), 'ERR_TOPOLOGY'],
  mtx: [(text: string) => readMatrixMarket(bytesOf(text)), 'ERR_MATRIX_MARKET'],
  json: [(text: string) => parseGraphologyJson(bytesOf(text)), 'ERR_TOPOLOGY'],
  machine: [parseMachine, 'ERR_MACHINE'],
  hosts: [machineFromHostList, 'ERR_MACHINE'],
  schedule: [parseSchedule, 'ERR_SCHEDULE_FORMAT'],
} as const

it.each<[keyof typeof readers, string, string, RegExp]>([
  ['csv', 'a long word', `0,1\n${long},1\n`, /^table:2:1: expected a source rank/],
  [
    'csv',
    '10^6 columns',
    `source,target${',x'.repeat(1e6)}\n`,
    /^table:1:\d+: expected at most 1024 columns/,
  ],
  ['csv', '10^6 fields', `0,1\n0${',1'.repeat(1e6)}\n`, /^table:2:7: expected the end of the line/],
  ['csv', 'a byte order mark in the middle', '0,1\n\ufeff0,1\n', /^table:2:1: expected a source rank/],
  ['csv', 'NUL', '0,1\n0,\0', /^table:2:3: .*got '\\x00'/],
  ['csv', 'a rank of 20 digits', `0,${'9'.repeat(20)}`, /^table:1:3: expected a destination rank/],
  ['csv', 'a quote without end', 'source,target,x\n0,1,"abc\n', /^table:3:1: .* for the one at 2:5/],
  ['csv', 'names of the prototype', '__proto__,constructor\n0,1', /^table:1:1: expected columns 'source'/],
  ['edges', 'a long number', `0 1\n0 ${'9'.repeat(2 ** 20)}`, /^edge list:2:3: expected a destination rank/],
  ['edges', '10^6 words', `0 1${' 1'.repeat(1e6)}`, /^edge list:1:7: expected the end of the line/],
  ['edges', 'NUL', '0 1\n0 \0', /^edge list:2:3: .*got '\\x00'/],
  ['edges', 'a negative size', 'ranks -1', /^edge list:1:7: .*got '-1'/],
  ['metis', 'too many edges', '16777216 134217728', /^graph:1:10: expected the number of edges/],
  [
    'mtx',
    'a size of 23 digits',
    `${banner}${'9'.repeat(23)} 2 1\n`,
    /^matrix:2:1: expected the number of rows/,
  ],
  ['mtx', 'NUL', `${banner}1 1 1\n1 1 \0`, /^matrix:3:5: .*got '\\x00'/],
  [
    'mtx',
    'a long number',
    `${banner}1 1 1\n1 1 ${'1'.repeat(2 ** 20)}`,
    /^matrix:3:5: .*at most 1024 characters/,
  ],
  ['json', 'NaN', weighted('"weight":NaN'), /^graph:2:\d+: expected a value/],
  ['json', '1e999', weighted('"weight":1e999'), /^graph:2:\d+: expected a number that a double can hold/],
  [
    'json',
    '1e999 at the other end',
    weighted('"weight":1,"inWeight":1e999'),
    /^graph:2:\d+: expected a number that/,
  ],
  [
    'json',
    'an infinite slot',
    weighted('"outSlot":-1e999,"inSlot":0'),
    /^graph:2:\d+: expected a number that/,
  ],
  ['json', 'NUL', graphText('\0'), /^graph:2:10: expected a value/],
  ['json', 'a prototype', '{"__proto__":{"nodes":[]}}', /^graph:1:1: expected a list of nodes, got none/],
  ['json', 'a text without end', '{"nodes":["', /^graph:1:11: expected a value/],
  [
    'json',
    'a weight that is an object',
    weighted('"weight":{"toString":1}'),
    /^graph:2:\d+: expected a number, got an object/,
  ],
  [
    'machine',
    'a long text',
    'x'.repeat(2 ** 21),
    /expected a machine's text of at most 1048576 characters, got 2097152/,
  ],
  [
    'machine',
    'a product that is too large',
    'torus:dims=65536x65536x65536,cores=1',
    /character 12: expected at most/,
  ],
  ['machine', 'a negative size', 'cluster:nodes=-1,cores=1', /character 15: expected an integer from 1/],
  ['machine', 'an option twice', 'cluster:nodes=1,nodes=1,cores=1', /character 17: expected 'nodes' once/],
  [
    'machine',
    'a prototype',
    'cluster:nodes=1,cores=1,profile=__proto__',
    /character 33: expected one of the profiles/,
  ],
  ['machine', 'levels without end', 'clos:radix=4096,levels=9', /character 12: expected at most/],
  [
    'hosts',
    'a negative number of slots',
    'b\na:-1',
    /^host list, line 2, character 3: expected an integer of slots/,
  ],
  ['schedule', 'NUL', '\0', /^schedule:1: expected a line of JSON/],
  [
    'schedule',
    'a prototype',
    '{"__proto__":{"format":"rankweave-schedule"}}',
    /^schedule:1: format: .* got nothing/,
  ],
  ['schedule', 'a text without end', `"${long}`, /^schedule:1: expected a line of JSON/],
])('%s refuses %s', (kind, _, text, message) => {
  const [read, code] = readers[kind]
  expect(() => read(text)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
})

it.each<[keyof typeof readers, string, string]>([
  ['csv', '\ufeffsource,target\r\n0,1\r\n', 'source,target\n0,1\n'],
  ['edges', '\ufeffranks 2\r\n0 1\r\n', 'ranks 2\n0 1\n'],
  ['mtx', `\ufeff${banner.trim()}\r\n1 1 1\r\n1 1 1\r\n`, `${banner}1 1 1\n1 1 1\n`],
  ['json', `\ufeff${graphText('').replace('\n', '\r\n')}`, graphText('')],
])('%s reads a byte order mark and CRLF as if they were not there', (kind, text, plain) => {
  const [read] = readers[kind]
  expect(read(text)).toEqual(read(plain))
})

const throwing = () => {
  throw new TypeError('not now')
}

it.each<[string, object]>([
  ['an attribute that throws', Object.defineProperty({}, 'weight', { enumerable: true, get: throwing })],
  ['a weight whose text throws', { weight: { toString: throwing } }],
  ['a weight without a prototype', { weight: Object.create(null) as object }],
  ['a weight that is a symbol', { weight: Symbol('x') }],
  ['NaN', { weight: Number.NaN }],
])('a graph with %s is refused', (_, attributes) => {
  const graph = new DirectedGraph()
  for (const node of ['a', 'b']) graph.addNode(node)
  graph.addDirectedEdge('a', 'b', attributes)
  expect(() => topologyFromGraph(graph)).toThrow(expect.objectContaining({ code: 'ERR_TOPOLOGY' }))
})

it('a mixed multigraph with loops is read', () => {
  const graph = new MultiGraph()
  for (const node of ['a', 'b']) graph.addNode(node)
  graph.addUndirectedEdge('a', 'a')
  for (let copy = 0; copy < 2; copy++) graph.addDirectedEdge('a', 'b')
  graph.addUndirectedEdge('b', 'a')
  expect(topologyFromGraph(graph)).toMatchObject({ ranks: 2, outRank: Int32Array.of(0, 1, 1, 1, 0) })
})

it('a node named __proto__ in JSON is a node, and changes no prototype', () => {
  const before = Reflect.ownKeys(Object.prototype)
  const text = graphText(
    '{"source":"__proto__","target":"b"},{"source":"__proto__","target":"b"}',
    '{"key":"__proto__"},{"key":"b"}',
  )
  expect(parseGraphologyJson(bytesOf(text))).toMatchObject({ ranks: 2, outRank: Int32Array.of(1, 1) })
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before)
})
