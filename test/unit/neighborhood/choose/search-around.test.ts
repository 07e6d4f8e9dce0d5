import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../src/neighborhood/choose/candidate-loads.js'
import { type Found, searchAround } from '../../../../src/neighborhood/choose/search-around.js'
import type { Simulated } from '../../../../src/neighborhood/choose/simulated.js'
import type { Strategy } from '../../../../src/neighborhood/strategies/strategy.js'
import { formatStrategy } from '../../../../src/neighborhood/strategies/strategy-text.js'

const extents = { ranks: 64, nodes: 1, largest: 64, windows: [] }

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
  atOnce(searchAround([simulated({ kind: 'routed', radices })], extents, limits, simulated))

describe('a search among similar strategies', () => {
  it('goes from the fastest to the next, until there is no faster one', () => {
    const { best } = from([64], { strategies: 100, moves: 10_000 })
    expect(best?.timeUs).toBe(12)
  })

  it('finds nothing where nothing is faster', () => {
    expect(from([2, 2, 2, 2, 2, 2], { strategies: 100, moves: 10_000 }).best).toBeNull()
    expect(atOnce(searchAround([], extents, { strategies: 9, moves: 9 }, simulated))).toEqual({
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
    const { tried } = atOnce(searchAround(start, extents, { strategies: 60, moves: 10_000 }, counted))
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
    atOnce(searchAround(start, of, { strategies: 1000, moves: 100_000 }, counted))
    expect(texts.length).toBeGreaterThanOrEqual(8)
    expect(new Set(texts).size).toBe(texts.length)
  })
})
