import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AscendingSet } from '../../../src/base/ascending-set.js'

const ascendingOf = (values: Iterable<number>) => [...new Set(values)].sort((a, b) => a - b)

describe('AscendingSet', () => {
  it('has every element at its index, and no other', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 5000 })
          .chain((bound) => fc.array(fc.nat(bound), { minLength: 1, maxLength: 400 })),
        (values) => {
          const elements = ascendingOf(values)
          const set = new AscendingSet(elements)
          expect(elements.map((_, index) => set.at(index))).toEqual(elements)
          expect(elements.map((element) => set.indexOf(element))).toEqual(elements.map((_, index) => index))
          const others = elements.flatMap((element) => [element - 1, element + 1])
          for (const other of others) {
            expect(set.indexOf(other)).toBe(elements.indexOf(other))
          }
        },
      ),
      { numRuns: 200, seed: 1 },
    )
  })

  it('takes few bits per element', () => {
    const half = Array.from({ length: 2048 }, (_, i) => 2 * i + (i % 3 === 0 ? 1 : 0))
    expect(new AscendingSet(half).sizeBytes).toBeLessThan(2048 / 2)
    const few = Array.from({ length: 64 }, (_, i) => 61 * i + (i % 5))
    expect(new AscendingSet(few).sizeBytes).toBeLessThan(2 * 64)
  })
})
