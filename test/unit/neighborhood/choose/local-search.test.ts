import { formatStrategy, parseStrategy, type Strategy } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../src/base/turn.js'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import {
  candidatesOf,
  extentsOf,
  isGrouped,
  similarTo,
} from '../../../../src/neighborhood/choose/candidates.js'
import { type Found, localSearch } from '../../../../src/neighborhood/choose/choose-strategy.js'
import type { Simulated } from '../../../../src/neighborhood/choose/simulated.js'
import { routeOf } from '../../../../src/neighborhood/plan/plan.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'

const grid = buildTopology('moore:12x8:r=2')
const nodes = nodeOf(cluster({ nodes: 8, cores: 12 }), 96)
const extents = extentsOf(grid, nodes)
const similar = (text: string, of = extents): string[] =>
  similarTo(parseStrategy(text), of).map(formatStrategy)

describe('similar strategies', () => {
  it('are other ones, each once, and routes', () => {
    const candidates = candidatesOf(grid, nodes).filter((strategy) => !isGrouped(strategy))
    for (let i = 0; i < candidates.length; i += 7) {
      const strategy = candidates[i]
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

const line = { ranks: 64, nodes: 1, largest: 64, windows: [] }

/** Digits of ranks take as long as the sum of their radices, and move ten blocks. */
function simulated(strategy: Strategy): Simulated {
  const radices = strategy.kind === 'routed' ? (strategy.radices ?? []) : []
  const noTraffic = { messages: 0, bytes: 0 }
  return {
    ...{ strategy, text: formatStrategy(strategy), moved: 10, planMs: () => 0 },
    timeUs: radices.reduce((sum, radix) => sum + radix, 0),
    traffic: { process: noTraffic, package: noTraffic, node: noTraffic, network: noTraffic },
  }
}

const from = (radices: readonly number[], limits: { strategies: number; moves: number }): Found =>
  atOnce(localSearch([simulated({ kind: 'routed', radices })], line, limits, simulated))

describe('a search among similar strategies', () => {
  it('goes from the fastest to the next, until there is no faster one', () => {
    const { best } = from([64], { strategies: 100, moves: 10_000 })
    expect(best?.timeUs).toBe(12)
  })

  it('finds nothing where nothing is faster', () => {
    expect(from([2, 2, 2, 2, 2, 2], { strategies: 100, moves: 10_000 }).best).toBeNull()
    expect(atOnce(localSearch([], line, { strategies: 9, moves: 9 }, simulated))).toEqual({
      best: null,
      tried: 0,
    })
  })

  it('ends with its budget, of strategies or of blocks', () => {
    expect(from([64], { strategies: 3, moves: 10_000 }).tried).toBe(3)
    expect(from([64], { strategies: 100, moves: 41 }).tried).toBe(5)
  })

  it('tries every strategy once', () => {
    const texts: string[] = []
    const counted = (strategy: Strategy): Simulated => {
      texts.push(formatStrategy(strategy))
      return simulated(strategy)
    }
    const start = [simulated({ kind: 'routed', radices: [8, 8] })]
    const { tried } = atOnce(localSearch(start, line, { strategies: 60, moves: 10_000 }, counted))
    expect([texts.length, new Set(texts).size]).toEqual([tried, tried])
  })

  it('knows a strategy with a default written out from one without', () => {
    const texts: string[] = []
    const counted = (strategy: Strategy): Simulated => {
      texts.push(formatStrategy(strategy).replace(/,(order=lowest|digits=number|first=between)/g, ''))
      return simulated(strategy)
    }
    const options = { between: [4], inside: [4], digits: 'offset' } as const
    const start = [{ kind: 'hierarchical', ...options, first: 'between' } as const].map(counted)
    const of = { ranks: 16, nodes: 4, largest: 4, windows: [] }
    atOnce(localSearch(start, of, { strategies: 1000, moves: 100_000 }, counted))
    expect(texts.length).toBeGreaterThanOrEqual(8)
    expect(new Set(texts).size).toBe(texts.length)
  })
})
