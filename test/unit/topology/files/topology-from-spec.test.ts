import { describe, expect, test } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { sourceOf } from '../../../../src/text/byte-source.js'
import {
  formatTopologySpec,
  parseTopologySpec,
  type TopologySpec,
} from '../../../../src/topology/files/spec-text.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { cartTopology } from '../../../../src/topology/generate/cartesian.js'
import { erdosRenyiTopology } from '../../../../src/topology/generate/random-graphs.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { refusal } from '../../../support/refusal.js'
import { thrown } from '../thrown.js'

describe('parseTopologySpec reads, formatTopologySpec writes', () => {
  test.each([
    ['moore:64x64:r=4', { kind: 'moore', dims: [64, 64], radius: 4, periodic: true }, 'moore:64x64:r=4'],
    ['moore:8:r=1:periodic', { kind: 'moore', dims: [8], radius: 1, periodic: true }, 'moore:8:r=1'],
    ['moore:8x4x2:r=2:open', { kind: 'moore', dims: [8, 4, 2], radius: 2, periodic: false }, null],
    ['er:1024:d=0.2:seed=7', { kind: 'er', ranks: 1024, density: 0.2, seed: 7 }, null],
    ['er:16:d=1e-7', { kind: 'er', ranks: 16, density: 1e-7, seed: 1 }, 'er:16:d=1e-7:seed=1'],
    ['cart:8x8x8:periodic', { kind: 'cart', dims: [8, 8, 8], periods: [true, true, true] }, null],
    ['cart:8x2', { kind: 'cart', dims: [8, 2], periods: [false, false] }, null],
    ['cart:8x2:open', { kind: 'cart', dims: [8, 2], periods: [false, false] }, 'cart:8x2'],
    ['cart:8x2:periods=0,1', { kind: 'cart', dims: [8, 2], periods: [false, true] }, null],
    ['cart:8x2:periods=1,1', { kind: 'cart', dims: [8, 2], periods: [true, true] }, 'cart:8x2:periodic'],
    ['mtx:a.mtx:ranks=256', { kind: 'mtx', file: 'a.mtx', ranks: 256 }, null],
    ['mtx:C:\\d\\a.mtx:ranks=8', { kind: 'mtx', file: 'C:\\d\\a.mtx', ranks: 8 }, null],
    ['mtx:a:ranks=1:ranks=8', { kind: 'mtx', file: 'a:ranks=1', ranks: 8 }, null],
    [
      'stencil:8x4:box:r=2',
      { kind: 'stencil', dims: [8, 4], periods: [false, false], neighbors: { shape: 'box', radius: 2 } },
      null,
    ],
    [
      'stencil:8x4:star:r=1:periods=0,1',
      { kind: 'stencil', dims: [8, 4], periods: [false, true], neighbors: { shape: 'star', radius: 1 } },
      null,
    ],
    [
      'stencil:8x4:offsets=0,1/-2,0:periodic',
      {
        kind: 'stencil',
        dims: [8, 4],
        periods: [true, true],
        neighbors: {
          offsets: [
            [0, 1],
            [-2, 0],
          ],
        },
      },
      null,
    ],
    [
      'rgg:99:r=0.5',
      { kind: 'rgg', ranks: 99, radius: 0.5, dimensions: 2, periodic: false, seed: 1 },
      'rgg:99:r=0.5:seed=1',
    ],
    [
      'rgg:99:r=1e-3:dim=3:periodic:seed=4',
      { kind: 'rgg', ranks: 99, radius: 0.001, dimensions: 3, periodic: true, seed: 4 },
      'rgg:99:r=0.001:dim=3:periodic:seed=4',
    ],
    ['ws:64:k=8:p=0.1:seed=2', { kind: 'ws', ranks: 64, degree: 8, rewiring: 0.1, seed: 2 }, null],
    [
      'powerlaw:64:d=7.5',
      { kind: 'powerlaw', ranks: 64, degree: 7.5, gamma: 2.5, seed: 1 },
      'powerlaw:64:d=7.5:gamma=2.5:seed=1',
    ],
    [
      'rmat:64:d=16',
      { kind: 'rmat', ranks: 64, degree: 16, quarters: [0.57, 0.19, 0.19, 0.05], seed: 1 },
      'rmat:64:d=16:p=0.57,0.19,0.19,0.05:seed=1',
    ],
    ['metis:a:b.graph', { kind: 'metis', file: 'a:b.graph' }, null],
    ['csv:a.csv', { kind: 'csv', file: 'a.csv' }, null],
    ['csv:a:b.csv:delimiter=tab', { kind: 'csv', file: 'a:b.csv', delimiter: '\t' }, null],
    ['graphology:a.json', { kind: 'graphology', file: 'a.json' }, null],
    ['edges:g.txt', { kind: 'edges', file: 'g.txt' }, null],
    ['edges:C:/g:ranks=3', { kind: 'edges', file: 'C:/g:ranks=3' }, null],
  ])('%s', (text, spec, canonical) => {
    expect(parseTopologySpec(text)).toEqual(spec)
    expect(formatTopologySpec(parseTopologySpec(text))).toBe(canonical ?? text)
  })

  test.each([
    ['', 1, "'csv:', 'graphology:' or 'edges:', got the end"],
    ['moore', 1, "'csv:', 'graphology:' or 'edges:', got 'moore'"],
    ['csv:a:delimiter=;', 17, "a delimiter: comma, semicolon, tab, bar, got ';'"],
    ['ring:8', 1, "'csv:', 'graphology:' or 'edges:', got 'ring:8'"],
    ['moore:', 7, "expected extents such as '64x64', got the end"],
    ['moore:64x:r=4', 7, "expected extents such as '64x64', got '64x:r=4'"],
    ['moore:0x4:r=4', 7, 'expected an integer of at least 1'],
    ['moore:64x64', 13, "expected ':r=RADIUS', got the end"],
    ['moore:64x64:k=4', 13, "expected ':r=RADIUS', got 'k=4'"],
    ['moore:64x64:r=', 15, 'expected an integer of at least 1, got the end'],
    ['moore:64x64:r=0', 15, "expected an integer of at least 1, got '0'"],
    ['moore:64x64:r=4:closed', 17, "expected ':open', ':periodic' or the end, got 'closed'"],
    ['moore:64x64:r=4:', 17, "expected ':open', ':periodic' or the end, got the end"],
    ['er:x', 4, "expected an integer of at least 1, got 'x'"],
    ['er:', 4, 'expected a number of ranks, got the end'],
    ['er:8', 6, "expected ':d=DENSITY', got the end"],
    ['er:8:d=2', 8, "expected a number from 0 to 1, got '2'"],
    ['er:8:d=0.1.2', 8, 'expected a number from 0 to 1'],
    ['er:8:d=0.1:seed=-1', 17, "expected an integer of at least 0, got '-1'"],
    ['er:8:d=0.1:sead=1', 12, "expected ':seed=SEED' or the end, got 'sead=1'"],
    ['er:8:d=0.1:seed=1:x', 19, "expected the end, got 'x'"],
    ['cart:8x8:periods=1', 18, "expected 2 flags 0 or 1 such as '1,1', got '1'"],
    ['cart:8x8:periods=1,2', 18, 'expected 2 flags 0 or 1'],
    ['cart:8x8:wrap', 10, "expected ':periodic', ':periods=1,0,...', ':open' or the end, got 'wrap'"],
    ['cart:8x8:periodic:open', 19, "expected the end, got 'open'"],
    ['mtx:a.mtx', 5, "expected 'FILE:ranks=RANKS', got 'a.mtx'"],
    ['d/a.mtx', 1, "expected 'mtx:FILE:ranks=RANKS' for a Matrix Market file, got 'd/a.mtx'"],
    ['graph.txt', 1, "expected what a file has before its name, such as 'edges:FILE'"],
    ['a.mtx.gz', 1, "expected 'mtx:FILE:ranks=RANKS' for a Matrix Market file, got 'a.mtx.gz'"],
    ['mtx::ranks=4', 5, "expected 'FILE:ranks=RANKS', got ':ranks=4'"],
    ['mtx:a.mtx:ranks=0', 17, "expected an integer of at least 1, got '0'"],
    ['stencil:8x8', 13, "':star', ':box', ':diamond' or ':offsets=0,1/1,0/...', got the end"],
    ['stencil:8x8:ring:r=1', 13, "':star', ':box', ':diamond' or ':offsets=0,1/1,0/...', got 'ring:r=1'"],
    ['stencil:8x8:star', 18, "expected ':r=RADIUS', got the end"],
    ['stencil:8x8:offsets=0,1/2', 25, "offsets of 2 integers such as '1,1', got '2'"],
    ['stencil:8x8:star:r=1:x', 22, "':periodic', ':periods=1,0,...', ':open' or the end, got 'x'"],
    ['rgg:8:r=x', 9, "a number above 0, got 'x'"],
    ['rgg:8:r=0', 9, "a number above 0, got '0'"],
    ['rgg:8:r=1:dim=0', 15, "an integer of at least 1, got '0'"],
    ['rgg:8', 7, "':r=RADIUS', got the end"],
    ['ws:8:k=2', 10, "':p=PROBABILITY', got the end"],
    ['ws:8:k=2:p=2', 12, "a number from 0 to 1, got '2'"],
    ['powerlaw:8:d=2:gamma=x', 22, "a number above 0, got 'x'"],
    ['rmat:8:d=2:p=1,0', 14, "4 numbers from 0 to 1 separated by commas, got '1,0'"],
    ['rmat:8:d=2:p=1,0,x,0', 18, "a number from 0 to 1, got 'x,0'"],
    ['metis:', 7, 'expected a file name, got the end'],
    ['edges:', 7, 'expected a file name, got the end'],
    ['moore:99999999999999999999:r=1', 7, 'expected an integer of at least 1'],
  ])("parseTopologySpec rejects '%s'", (text, character, message) => {
    const error = thrown(() => parseTopologySpec(text))
    expect(error.code).toBe('ERR_SPEC')
    expect(error.message).toContain(`topology '${text}', character ${character}: `)
    expect(error.message).toContain(message)
    expect(error.details).toEqual({ text, at: character - 1 })
  })
})

describe('buildTopology', () => {
  const read = (files: Record<string, string>) => ({
    open: (path: string) => {
      if (!(path in files)) throw new RankweaveError('ERR_FILE', `no ${path}`)
      return sourceOf(files[path])
    },
  })

  test('builds what the generators build', () => {
    expect(buildTopology('moore:4x4:r=1:open')).toEqual(
      mooreTopology({ dims: [4, 4], radius: 1, periodic: false }),
    )
    expect(buildTopology('er:16:d=0.5:seed=3')).toEqual(
      erdosRenyiTopology({ ranks: 16, density: 0.5, seed: 3 }),
    )
    expect(buildTopology({ kind: 'cart', dims: [2, 3], periods: [true, false] })).toEqual(
      cartTopology({ dims: [2, 3], periods: [true, false] }),
    )
  })

  test.each([
    ['stencil:4x4:star:r=1', 48],
    ['stencil:4x4:offsets=0,1', 12],
    ['rgg:64:r=1:periodic', 64 * 63],
    ['ws:64:k=4:p=0.5', 256],
    ['powerlaw:64:d=0.01', 0],
    ['rmat:2:d=40', 2],
  ])('%s has %i edges', (text, edges) => {
    expect(buildTopology(text).outRank).toHaveLength(edges)
  })

  test('reads files through the given function', () => {
    const files = {
      'm:1.mtx': '%%MatrixMarket matrix coordinate pattern general\n4 4 2\n4 1\n2 3\n',
      'g.txt': '0 1\n1 2\n',
      'g.metis': '2 1\n2\n1\n',
      'g.csv': '0,1\n1,0\n',
      'g.json': '{"nodes":[{"key":0},{"key":1}],"edges":[{"source":0,"target":1,"undirected":true}]}',
    }
    expect(buildTopology('mtx:m:1.mtx:ranks=2', read(files))).toEqual(
      topologyFromEdges(2, { sources: [0, 1], destinations: [1, 0] }),
    )
    const ring = topologyFromEdges(2, { sources: [0, 1], destinations: [1, 0] })
    expect(buildTopology('metis:g.metis', read(files))).toEqual(ring)
    expect(buildTopology('csv:g.csv', read(files))).toEqual(ring)
    expect(buildTopology('graphology:g.json', read(files))).toEqual(ring)
    expect(buildTopology('edges:g.txt', read(files))).toEqual(
      topologyFromEdges(3, { sources: [0, 1], destinations: [1, 2] }),
    )
  })

  test('an object of a kind with a file has the options of its reader', () => {
    const files = {
      'g.csv': '0;1\n',
      'g.json':
        '{"nodes":[{"key":0},{"key":1}],"edges":[{"source":0,"target":1,"attributes":{"weight":2,"n":3}}]}',
    }
    const csv = { kind: 'csv', file: 'g.csv', delimiter: ';', ranks: 3 } as const
    expect(buildTopology(csv, read(files))).toEqual(topologyFromEdges(3, { sources: [0], destinations: [1] }))
    const graph = { kind: 'graphology', file: 'g.json' } as const
    expect(buildTopology(graph, read(files)).outWeight).toEqual(Float64Array.of(2))
    expect(buildTopology({ ...graph, weight: 'n' }, read(files)).outWeight).toEqual(Float64Array.of(3))
    expect(buildTopology({ ...graph, weight: null }, read(files)).outWeight).toBeNull()
  })

  test('a value without JSON is refused by the generator', () => {
    const density = { valueOf: () => 0.5 }
    Object.assign(density, { density })
    const cyclic = { kind: 'er', ranks: 64, density } as unknown as TopologySpec
    expect(thrown(() => buildTopology(cyclic)).code).toBe('ERR_TOPOLOGY')
  })

  test('ranks of a process share a generated graph, but no graph of a file', () => {
    const graph = buildTopology('er:64:d=0.1')
    expect(buildTopology('er:64:d=0.1:seed=1')).toBe(graph)
    expect(buildTopology({ kind: 'er', ranks: 64, density: 0.1, seed: 1 })).toBe(graph)
    expect(buildTopology('er:64:d=0.1:seed=2')).not.toEqual(graph)
    const ring = ['0 1\n1 0\n', '0 1\n'].map((text) => buildTopology('edges:g', read({ g: text })))
    expect(ring.map(({ outRank }) => outRank.length)).toEqual([2, 1])
    const text = { kind: 'er', ranks: '64', density: 0.1, seed: 1 } as unknown as TopologySpec
    expect(() => buildTopology(text)).toThrow(refusal('ERR_TOPOLOGY', 'ranks'))
    const big = { kind: 'er', ranks: 64n, density: 0.1, seed: 1 } as unknown as TopologySpec
    expect(() => buildTopology(big)).toThrow(refusal('ERR_TOPOLOGY', 'ranks'))
  })

  test.each([
    ['mtx:m:ranks=2', 'ERR_MATRIX_MARKET', 'm:1:'],
    ['edges:m', 'ERR_TOPOLOGY', 'm:1:'],
    ['mtx:none:ranks=2', 'ERR_FILE', 'none'],
    ['moore:100000x100000:r=4', 'ERR_DIMS', '100000x100000'],
    ['cart:100000x100000', 'ERR_DIMS', '100000x100000'],
    ['metis:m', 'ERR_TOPOLOGY', 'm:1:1'],
    ['csv:m', 'ERR_TOPOLOGY', 'm:1:1'],
    ['graphology:m', 'ERR_TOPOLOGY', 'm:1:1'],
    ['metis:none', 'ERR_FILE', 'none'],
    ['stencil:100000x100000:star:r=1', 'ERR_DIMS', '100000x100000'],
    ['rgg:1000000:r=1', 'ERR_TOPOLOGY', 'edges'],
    ['er:1000000:d=0.5', 'ERR_TOPOLOGY', 'edges'],
    ['er:99999999999:d=0', 'ERR_TOPOLOGY', 'ranks'],
  ])('%s: %s', (text, code, message) => {
    expect(() => buildTopology(text, read({ m: 'nonsense' }))).toThrow(refusal(code, message))
  })

  test('reads files from disk by default', () => {
    expect(thrown(() => buildTopology('edges:/nowhere/at/all')).code).toBe('ERR_FILE')
  })
})
