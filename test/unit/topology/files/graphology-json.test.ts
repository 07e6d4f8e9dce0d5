import { MultiDirectedGraph, MultiGraph, UndirectedGraph } from 'graphology'
import { describe, expect, test } from 'vitest'
import { lineAndColumn, walkJson } from '../../../../src/text/json-places.js'
import { topologyFromGraph, topologyToGraph } from '../../../../src/topology/files/graphology.js'
import { graphologyJsonText, parseGraphologyJson } from '../../../../src/topology/files/graphology-json.js'
import { topologyFromEdges, topologyFromLists } from '../../../../src/topology/topology-builders.js'
import { refusal } from '../../../support/refusal.js'
import { expectRefusal, thrown } from '../thrown.js'

test('parseGraphologyJson reads what graphology exports, of every type', () => {
  const mixed = new MultiGraph({ type: 'mixed' })
  const undirected = new UndirectedGraph()
  for (const graph of [mixed, undirected]) {
    for (const node of ['b', 'a', 'c']) graph.addNode(node)
    graph.addUndirectedEdge('a', 'b', { weight: 2 })
    graph.addUndirectedEdge('c', 'c', { weight: 3 })
  }
  mixed.addDirectedEdge('c', 'a', { weight: 4 })
  for (const graph of [mixed, undirected])
    expect(parseGraphologyJson(JSON.stringify(graph.export()))).toEqual(topologyFromGraph(graph))
})

test('graphologyJsonText writes what graphology imports, and reads back with both lists and weights', () => {
  const crossed = topologyFromLists({
    ranks: 3,
    outStart: [0, 2, 4, 5],
    outRank: [2, 1, 1, 2, 2],
    outWeight: [1, 2, 3, -0, 5],
    inStart: [0, 0, 2, 5],
    inRank: [1, 0, 2, 1, 0],
    inWeight: [3, 2, 5, 40, 1],
  })
  const text = [...graphologyJsonText(crossed)].join('')
  expect(parseGraphologyJson(text)).toEqual(crossed)
  const graph = MultiDirectedGraph.from(JSON.parse(text))
  expect(topologyFromGraph(graph)).toEqual(crossed)
  expect(graph.mapEdges((_, attributes) => attributes)).toEqual(
    topologyToGraph(crossed).mapEdges((_, attributes) => attributes),
  )
})

test('parseGraphologyJson accepts edges without attributes, and weights of another name or none', () => {
  const text = '{"nodes":[{"key":"x"},{"key":7}],"edges":[{"source":7,"target":"x","attributes":{"w":2}}]}'
  const edges = { sources: [1], destinations: [0] }
  expect(parseGraphologyJson(text)).toEqual(topologyFromEdges(2, edges))
  expect(parseGraphologyJson(text, { weight: 'w' })).toEqual(topologyFromEdges(2, { ...edges, weights: [2] }))
  expect(parseGraphologyJson('{"nodes":[{"key":"x"}]}').ranks).toBe(1)
})

const one = '{"nodes":[{"key":"0"}],\n"edges":'
test.each([
  ['['.repeat(10_000_000), '1:1 values nested at most 64 deep, got deeper ones'],
  [`{"nodes":${'{"a":['.repeat(32)}`, '1:1 values nested at most 64 deep, got deeper ones'],
  ['', '1:1 a value, got the end of the text'],
  ['{"nodes":[}', '1:11 a value, got "}"'],
  ['{"nodes":\n[],}', '2:4 a name in quotes, got "}"'],
  ['{"nodes" []}', '1:10 \':\', got "[]}"'],
  ['[1 2]', "1:4 ',' or ']', got \"2]\""],
  ['{} x', '1:4 the end of the text, got "x"'],
  ['{"a":01}', "1:7 ',' or '}', got \"1}\""],
  ['[]', '1:1 an object, got a list'],
  ['{"nodes":3}', '1:10 a list of nodes, got a number'],
  ['{"edges":[]}', '1:1 a list of nodes, got none'],
  ['{"nodes":[]}', '1:10 1 to 16777216 nodes, got 0'],
  ['{"nodes":[{"key":"a"},\n {"key":"a"}]}', "2:9 every key once, got 'a' again"],
  ['{"nodes":[{"key":null}]}', '1:18 key, a string or a number, got null'],
  ['{"nodes":[{}]}', '1:11 key, a string or a number, got none'],
  [
    '{"options":{"type":"tree"},"nodes":[{"key":1}]}',
    "1:20 'directed', 'undirected' or 'mixed', got \"tree\"",
  ],
  [`${one}{}}`, '2:9 a list of edges, got an object'],
  [`${one}[7]}`, '2:10 an object, got a number'],
  [`${one}[{"source":"0","target":"9"}]}`, "2:33 the key of a node, got '9'"],
  [`${one}[{"source":"0"}]}`, '2:10 target, a string or a number, got none'],
  [`${one}[{"source":"0","target":"0","undirected":1}]}`, '2:50 true or false, got a number'],
  [`${one}[{"source":"0","target":"0","attributes":{"weight":"x"}}]}`, '2:60 a number, got a string'],
  [
    `${one}[{"source":"0","target":"0","attributes":{"weight":1}},\n{"source":"0","target":"0"}]}`,
    "3:1 the attribute 'weight' on every edge or on none, got it on some",
  ],
])('parseGraphologyJson rejects %j: %s', (text, at) =>
  expectRefusal(() => parseGraphologyJson(text, { file: 'f' }), 'ERR_TOPOLOGY', at),
)

describe('what a graph says of a node, an edge or itself has at most 65,536 characters', () => {
  const edge = (attributes: string) => `{"source":"0","target":"0","attributes":${attributes}}`
  const long = `{"a":[${'[],'.repeat(22_000)}[]]}`
  const text = `{"a":"${'\\"{['.repeat(20_000)}"}`

  test.each([
    ['an edge', `{"nodes":[{"key":"0"}],"edges":[\n${edge('{}')},\n${edge(long)}]}`, 3, 1],
    ['an edge, by a text', `{"nodes":[{"key":"0"}],"edges":[${edge(text)}]}`, 1, 33],
    ['a node', `{"nodes":[\n{"key":"0","attributes":${long}}]}`, 2, 1],
    ['the graph', `{"attributes":${long},"nodes":[{"key":"0"}]}`, 1, 15],
    ['the options', `{"options":${long},"nodes":[{"key":"0"}]}`, 1, 12],
    ['a list where an edge is expected', `{"nodes":[{"key":"0"}],"edges":[${long.slice(5, -1)}]}`, 1, 33],
  ])('longer attributes of %s are refused before they are parsed', (_, json, line, column) => {
    const error = thrown(() => parseGraphologyJson(json, { file: 'g.json' }))
    expect(error).toMatchObject({ code: 'ERR_TOPOLOGY', details: { file: 'g.json', line, column } })
    expect(error.message).toBe(
      `g.json:${line}:${column}: expected nodes and edges, and attributes and options of a graph, of at most 65536 characters, got longer ones`,
    )
  })

  test('those within the bound are read, however many there are', () => {
    const [empty, full] = [edge('{}'), edge(`{"a":"${'x'.repeat(65_536 - edge('{"a":""}').length)}"}`)]
    expect(full).toHaveLength(65_536)
    const edges = [empty, full, empty, full].join(',')
    const { outRank } = parseGraphologyJson(`{"nodes":[{"key":"0"}],"edges":[${edges}]}`)
    expect(outRank).toHaveLength(4)
    const longer = `{"nodes":[{"key":"0"}],"edges":[${full.replace('"x', '"xx')}]}`
    expect(thrown(() => parseGraphologyJson(longer)).message).toContain('65536')
  })
})

test('walkJson reports where every value of a text begins', () => {
  const text = '{"a\\n":[1, -2.5e3,\n{"":true}, []], "b":{}}'
  const seen: [string, string][] = []
  expect(walkJson(text, (path, at) => seen.push([path.join('/'), text.slice(at, at + 4)]) < 0)).toBeNull()
  expect(seen).toEqual([
    ['', '{"a\\'],
    ['a\n', '[1, '],
    ['a\n/0', '1, -'],
    ['a\n/1', '-2.5'],
    ['a\n/2', '{"":'],
    ['a\n/2/', 'true'],
    ['a\n/3', '[]],'],
    ['b', '{}}'],
  ])
  expect(lineAndColumn('ab\n\nc', 4)).toEqual({ line: 3, column: 1 })
})

test.each(['\\u0041', '\\n', 'a'])('a text of millions of %j is an error of the file', (character) => {
  const text = `{"a":"${character.repeat(3_000_000)}"}`
  expect(thrown(() => parseGraphologyJson(text)).code).toBe('ERR_TOPOLOGY')
  expect(walkJson(`${text}]`)).toEqual({ at: text.length, expected: 'the end of the text' })
})

test('graphologyJsonText rejects an infinite weight', () => {
  const topology = topologyFromEdges(2, { sources: [0], destinations: [1], weights: [Infinity] })
  expect(() => [...graphologyJsonText(topology)]).toThrow(refusal('ERR_TOPOLOGY', 'edge from 0 to 1'))
})
