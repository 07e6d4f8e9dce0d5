import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sourceOf } from '../../../../src/text/byte-source.js'
import { edgeListText } from '../../../../src/topology/files/edge-list.js'
import { FileNotes, mostPlaces, withoutDuplicates } from '../../../../src/topology/files/file-notes.js'
import { parseTopologySpec } from '../../../../src/topology/files/spec-text.js'
import { type FileSpec, readTopologyFile } from '../../../../src/topology/files/topology-from-spec.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'

function check(spec: string, text: string | Uint8Array) {
  const notes = new FileNotes()
  const open = () => sourceOf(text)
  const topology = readTopologyFile(parseTopologySpec(spec) as FileSpec, notes, { open })
  const oddities = notes.oddities(topology)
  const lines = oddities.flatMap(({ kind, places }) =>
    places.map(({ line, text }) => `${kind} ${line}: ${text}`),
  )
  return { notes, oddities, lines }
}

/** Lines of edges in both directions along a path. */
const path = (ranks: number) =>
  Array.from({ length: ranks - 1 }, (_, i) => `${i} ${i + 1}\n${i + 1} ${i}\n`).join('')

it('a file with nothing odd has no notes', () => {
  expect(check('edges:f', `# a path\nranks 5\n${path(5)}`).lines).toEqual([])
  expect(check('edges:f', '0 1 {}\n1 2 {}\n2 0 {}\n').lines).toEqual([])
  expect(check('csv:f', 'from,to,weight\n0,1,2.5\n1,0,3\n').lines).toEqual([])
  expect(check('metis:f', '3 2\n2\n1 3\n2\n').lines).toEqual([])
  expect(
    check('mtx:f:ranks=2', '%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 1\n2 1 1\n')
      .lines,
  ).toEqual([])
  expect(
    check('graphology:f', '{"nodes":[{"key":"b"},{"key":"a"}],"edges":[{"source":"a","target":"b"}]}').lines,
  ).toEqual([])
})

it('repeated edges and self loops are noted with their lines', () => {
  expect(check('edges:f', '0 1 2\n# again\n0 1 2\n2 2 1\n0 1 3\n').lines).toEqual([
    'self-loops 4: edge from 2 to 2',
    'duplicate-edges 3: edge from 0 to 1 again, first in line 1',
    'duplicate-edges 5: edge from 0 to 1 again, first in line 1',
  ])
  const matrix = '%%MatrixMarket matrix coordinate pattern general\n% c\n2 3 3\n1 2\n1 3\n1 2\n'
  expect(check('mtx:f:ranks=1', matrix).lines).toEqual([
    'isolated-ranks null: rank 0 without edges',
    'duplicate-edges 6: entry in row 1, column 2 again, first in line 4',
  ])
  const graph =
    '{"nodes":[{"key":"a"},{"key":"b"}],\n"edges":[{"source":"a","target":"b","undirected":true},\n{"source":"b","target":"a"}]}'
  expect(check('graphology:f', graph).lines).toEqual([
    'duplicate-edges 3: edge from 1 to 0 again, first in line 2',
  ])
})

it('at most 20 places of a kind are listed, and all are counted', () => {
  const [duplicates] = check('edges:f', '0 1\n'.repeat(50)).oddities
  expect(duplicates).toMatchObject({ kind: 'duplicate-edges', count: 49 })
  expect(duplicates.places.map(({ line }) => line)).toEqual(
    Array.from({ length: mostPlaces }, (_, i) => i + 2),
  )
})

describe('numbers of ranks', () => {
  it('a file that counts from 1 is noted at the first edge with 1', () => {
    expect(check('edges:f', '2 3\n3 1\n1 2\n').lines).toEqual([
      'numbering 2: no line names rank 0, as if ranks counted from 1; they count from 0',
    ])
    expect(check('csv:f', 'src;dst\n1;2\n2;1\n4;\n').lines).toEqual([
      'numbering 2: no line names rank 0, as if ranks counted from 1; they count from 0',
      'gaps null: no line names rank 3',
      'isolated-ranks null: rank 4 without edges',
    ])
  })

  it('runs of numbers that no line names are gaps; named ranks without edges are isolated', () => {
    expect(check('edges:f', 'ranks 12\n0 1\n1 5\n5 0\n').lines).toEqual([
      'gaps null: no line names ranks 2 to 4',
      'isolated-ranks null: ranks 6 to 11 without edges',
    ])
    expect(check('metis:f', '4 1\n2\n1\n\n\n').lines).toEqual([
      'isolated-ranks null: ranks 2 to 3 without edges',
    ])
  })

  it('nodes of graphology whose keys are other numbers than their ranks are noted', () => {
    const graph = '{"nodes":[{"key":"1"},\n{"key":"2"}],"edges":[{"source":"1","target":"2"}]}'
    expect(check('graphology:f', graph).lines).toEqual([
      "numbering 1: node '1' is rank 0",
      "numbering 2: node '2' is rank 1",
    ])
  })
})

it('an edge without a reverse is noted where at least nine of ten pairs have both', () => {
  expect(check('edges:f', `${path(10)}0 9\n`).lines).toEqual([
    'one-way-edges 19: edge from 0 to 9, none back',
  ])
  expect(check('edges:f', `${path(9)}0 8\n`).lines).toEqual([])
  // A symmetric matrix stores one triangle.
  const symmetric = '%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n'
  expect(check('mtx:f:ranks=3', symmetric).lines).toEqual([])
})

it('fields that are ignored are noted', () => {
  expect(check('edges:f', "0 1 {'weight': 2, 'color': 'red'}\n1 0 {'weight': 2}\n").lines).toEqual([
    "ignored-fields 1: attributes besides 'weight' are ignored",
  ])
  const table = '# exported\nId,Source,Target,Type,Label\n0,0,1,road,a\n1,1,0,rail,b\n'
  expect(check('csv:f', table).lines).toEqual([
    "ignored-fields 2: column 'id' is ignored",
    "ignored-fields 2: column 'label' is ignored",
    "ignored-fields 3: column 'type' is ignored",
  ])
})

it('the form of the text is noted', () => {
  const windows = check('csv:f', '\ufeffsep=;\r\nfrom;to\r\n0;1\r\n1;0\r\n')
  expect(windows.lines).toEqual([
    'byte-order-mark 1: the text begins with a byte-order mark',
    'line-ends 1: lines end with carriage return and line feed',
  ])
  expect(windows.notes).toMatchObject({
    delimiter: ';',
    headerLine: 2,
    lineEnds: 'CR LF',
    isCompressed: false,
  })
  expect(check('edges:f', '0 1\r1 0\r').lines).toEqual(['line-ends 1: lines end with carriage returns alone'])
  expect(check('edges:f', gzipSync('0 1\n1 0\n')).notes.isCompressed).toBe(true)
  expect(check('metis:f', '2 1 011\n5 2 1\n5 1 1\n').notes.leftOut).toBe('weights and sizes of vertices')
})

it('withoutDuplicates sorts edges and removes those that repeat another with its weight', () => {
  const topology = topologyFromEdges(3, {
    sources: [2, 0, 0, 0, 0],
    destinations: [1, 2, 1, 1, 1],
    weights: [1, 1, 3, 2, 3],
  })
  const { topology: corrected, removed, differing } = withoutDuplicates(topology)
  expect({ removed, differing }).toEqual({ removed: 1, differing: 1 })
  expect([...edgeListText(corrected)].join('')).toBe('ranks 3\n0 1 2\n0 1 3\n0 2 1\n2 1 1\n')
})
