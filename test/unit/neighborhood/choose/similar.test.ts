import { describe, expect, it } from 'vitest'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { candidatesOf } from '../../../../src/neighborhood/choose/candidates.js'
import { extentsOf, similarTo } from '../../../../src/neighborhood/choose/similar.js'
import { routeOf } from '../../../../src/neighborhood/plan/plan.js'
import { formatStrategy, parseStrategy } from '../../../../src/neighborhood/strategies/strategy-text.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'

const grid = buildTopology('moore:12x8:r=2')
const nodes = nodeOf(cluster({ nodes: 8, cores: 12 }), 96)
const extents = extentsOf(grid, nodes)
const similar = (text: string, of = extents): string[] =>
  similarTo(parseStrategy(text), of).map(formatStrategy)

describe('similar strategies', () => {
  it('are other ones, each once, and routes', () => {
    const candidates = candidatesOf(grid, nodes).filter(({ leastLoad }) => leastLoad === undefined)
    for (let i = 0; i < candidates.length; i += 7) {
      const { strategy } = candidates[i]
      const all = similarTo(strategy, extents)
      const texts = all.map(formatStrategy)
      expect(texts).not.toContain(formatStrategy(strategy))
      expect(new Set(texts).size).toBe(texts.length)
      for (const each of all) expect(() => routeOf(grid, each, { nodeOf: nodes })).not.toThrow()
    }
  })

  it('reach radices of which one is larger and another smaller', () => {
    const of = { ranks: 256, nodes: 16, largest: 16, windows: [] }
    expect(similar('hierarchical:between=4.4,inside=3.3.2,digits=offset', of)).toEqual(
      expect.arrayContaining([
        'hierarchical:between=6.3,inside=3.3.2,digits=offset',
        'hierarchical:between=4.4,inside=3.2.3,digits=offset',
        'hierarchical:between=4.4,inside=3.6,digits=offset',
        'hierarchical:between=4.2.2,inside=3.3.2,digits=offset',
        'hierarchical:between=4.4,inside=3.3.2,digits=offset,order=highest',
      ]),
    )
  })

  it('divide the ranks of a node among lanes anew, and all of them', () => {
    const widths = similarTo(parseStrategy('lanes:radices=3.4,widths=4.8'), extents).flatMap((each) =>
      'widths' in each && each.widths?.join() !== '4,8' ? [each.widths ?? []] : [],
    )
    expect(widths.length).toBeGreaterThan(5)
    for (const each of widths) expect(each.reduce((sum, width) => sum + width, 0)).toBe(12)
    expect(widths.map((each) => each.join('.'))).toEqual(
      expect.arrayContaining(['8.4', '2.2.8', '12', '3.9']),
    )
  })

  it('take fewer steps behind than ahead', () => {
    expect(similar('pipelined:steps=1.1,inside=12')).toContain('pipelined:steps=1.1,back=2,inside=12')
  })

  it('leave out an option that is at its default again', () => {
    expect(similar('routed:radices=96,first=highest')).toContain('routed:radices=96')
    expect(similar('routed:radices=96')).toContain('routed:radices=96,first=highest')
    expect(similar('allgather:radices=96')).toContain('allgather:radices=96,first=lowest')
    expect(similar('lanes:radices=12,widths=12,own=spread')).toContain('lanes:radices=12,widths=12')
  })

  it('of friend groups there are none', () => expect(similar('common-neighbor:k=4,mode=aware')).toEqual([]))
})
