import { describe, expect, it } from 'vitest'
import { NumberMap } from '../../../src/base/maps.js'
import { below, mulberry32 } from '../../../src/base/random.js'

describe('a map by number', () => {
  it('holds what a Map holds after the same random operations, whatever the keys', () => {
    const random = mulberry32(7)
    for (const stride of [1, 3, 16, 1024, 2 ** 20, 2 ** 33]) {
      const ours = new NumberMap<{ readonly n: number }>()
      const map = new Map<number, { readonly n: number }>()
      for (let n = 0; n < 1500; n++) {
        // Between nearly empty and more entries than a small one has places for.
        const key = below(random, n % 1000 < 500 ? 6 : 60) * stride
        if (below(random, 3) === 0) {
          ours.delete(key)
          map.delete(key)
        } else {
          ours.set(key, { n })
          map.set(key, { n })
        }
        expect(ours.size).toBe(map.size)
        expect(ours.get(key)).toEqual(map.get(key))
        const other = below(random, 60) * stride
        expect(ours.has(other)).toBe(map.has(other))
      }
      const keys = [...map.keys()].sort((a, b) => a - b)
      expect(ours.keys()).toEqual(keys)
      expect(ours.values()).toEqual(keys.map((key) => map.get(key)))
    }
  })

  it('is empty after its last entry is deleted, and after clear', () => {
    const map = new NumberMap<string>()
    for (let key = 0; key < 1000; key++) map.set(key, 'x')
    for (let key = 0; key < 1000; key++) map.delete(key)
    expect([map.size, map.has(3), map.keys()]).toEqual([0, false, []])
    map.set(5, 'y')
    map.clear()
    expect([map.size, map.get(5), map.values()]).toEqual([0, undefined, []])
  })
})
