import { describe, expect, it } from 'vitest'
import { below, mulberry32 } from '../../../../src/base/random.js'
import { AddressCache } from '../../../../src/comm/table/distributed-table.js'

describe('AddressCache', () => {
  it('keeps the rows used last, like a map from which the oldest is deleted', () => {
    for (const limit of [1, 2, 7, 40]) {
      const random = mulberry32(limit)
      const cache = new AddressCache(limit)
      const oracle = new Map<number, number>()
      for (let i = 0; i < 3000; i++) {
        const position = below(random, 60)
        const known = oracle.get(position)
        if (below(random, 2) === 0) {
          expect(cache.find(position)).toBe(known)
          if (known === undefined) continue
          oracle.delete(position)
          oracle.set(position, known)
        } else {
          cache.keep(position, i)
          oracle.delete(position)
          if (oracle.size === limit) oracle.delete(oracle.keys().next().value!)
          oracle.set(position, i)
        }
        expect(cache.size).toBe(oracle.size)
      }
      expect(cache.sizeBytes).toBe(24 * limit)
    }
  })

  it('of no rows keeps none', () => {
    const cache = new AddressCache(0)
    cache.keep(3, 4)
    expect([cache.find(3), cache.size, cache.sizeBytes]).toEqual([undefined, 0, 0])
  })
})
