import { buildTopology, findTranslations, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'
import { formatTopologySpec, translationSpec } from '../../../../src/topology/files/spec-text.js'

const shown = (spec: string) => {
  const found = findTranslations(buildTopology(spec))
  return found.kind === 'invariant' ? formatTopologySpec(translationSpec(found)) : found.kind
}

describe('findTranslations finds the grid of', () => {
  test.each([
    ['cart:8x8:periodic', 'stencil:8x8:star:r=1:periodic'],
    ['cart:6x10', 'stencil:6x10:star:r=1'],
    ['cart:4x6x5:periods=1,0,1', 'stencil:4x6x5:star:r=1:periods=1,0,1'],
    ['moore:64x64:r=4', 'stencil:64x64:box:r=4:periodic'],
    ['moore:12x9:r=2:open', 'stencil:12x9:box:r=2'],
    ['moore:16x16x16:r=1', 'stencil:16x16x16:box:r=1:periodic'],
    ['moore:8x8x8x8:r=1', 'stencil:8x8x8x8:box:r=1:periodic'],
    ['stencil:9x7:diamond:r=2:periods=0,1', 'stencil:9x7:diamond:r=2:periods=0,1'],
    ['stencil:20x30:offsets=1,2/-3,0', 'stencil:20x30:offsets=-3,0/1,2'],
    ['stencil:100:star:r=3', 'stencil:100:star:r=3'],
    ['ws:50:k=6:p=0', 'stencil:50:star:r=3:periodic'],
    // Complete: a ring whose offsets go all the way around.
    ['er:7:d=1', 'stencil:7:star:r=3:periodic'],
    ['er:8:d=1', 'stencil:8:star:r=4:periodic'],
    // Offsets that reach from border to border.
    ['stencil:5x4:box:r=4', 'stencil:20:star:r=10:periodic'],
    ['stencil:5x4:star:r=4', 'stencil:5x4:star:r=2:periodic'],
    ['stencil:4x5:offsets=3,-4', 'stencil:4x5:offsets=3,-4'],
  ])('%s is %s', (spec, found) => {
    expect(shown(spec)).toBe(found)
  })

  test('a topology with self loops and parallel edges', () => {
    expect(shown('cart:2x9:periodic')).toBe('stencil:2x9:star:r=1:periodic')
    expect(shown('cart:1x9:periodic')).toBe('stencil:9:star:r=1:periodic')
  })

  test('small topologies', () => {
    expect(findTranslations(buildTopology('cart:1'))).toEqual({
      kind: 'invariant',
      dims: [1],
      periods: [true],
      offsets: [],
      stencil: null,
    })
    expect(findTranslations(buildTopology('er:6:d=0'))).toMatchObject({ dims: [6], offsets: [] })
  })
})

describe('findTranslations finds no grid in', () => {
  test.each(['er:64:d=0.2', 'rgg:100:r=0.2', 'ws:100:k=4:p=0.1', 'powerlaw:128:d=8'])('%s', (spec) => {
    expect(shown(spec)).toBe('none')
  })

  test('a grid with one edge removed, added or moved', () => {
    const { ranks, outStart, outRank } = buildTopology('moore:8x8:r=1')
    const edges: (readonly [number, number])[] = []
    for (let p = 0; p < ranks; p++)
      for (let e = outStart[p]; e < outStart[p + 1]; e++) edges.push([p, outRank[e]])
    const kind = (changed: readonly (readonly [number, number])[]) => {
      const [sources, destinations] = [0, 1].map((end) => changed.map((edge) => edge[end]))
      return findTranslations(topologyFromEdges(ranks, { sources, destinations })).kind
    }
    expect(kind(edges)).toBe('invariant')
    expect(kind(edges.toSpliced(100, 1))).toBe('none')
    expect(kind(edges.toSpliced(100, 1, [12, 40]))).toBe('none')
    expect(kind([...edges, [12, 40]])).toBe('none')
  })

  test('findTranslations reports that it is undecided beyond the work limit', () => {
    const found = findTranslations(buildTopology('moore:64x64:r=2'), { workLimit: 1000 })
    expect(found).toEqual({ kind: 'undecided', reason: 'more than 1000 steps' })
  })

  test('a grid of more dimensions than allowed', () => {
    const topology = buildTopology('cart:3x3x3:periodic')
    expect(findTranslations(topology, { mostDims: 2 })).toEqual({ kind: 'none', mostDims: 2 })
    expect(findTranslations(topology).kind).toBe('invariant')
  })
})
