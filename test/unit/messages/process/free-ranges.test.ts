import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { FreeRanges, lapBytes } from '../../../../src/messages/process/staging.js'

describe('free ranges', () => {
  it('are taken in turn: a range is taken again when a lap has gone by', () => {
    const mebibyte = 2 ** 20
    const ranges = new FreeRanges(8 * lapBytes)
    const one = () => {
      const start = ranges.take(mebibyte)
      ranges.give(start, mebibyte)
      return start
    }
    const laps = Array.from({ length: lapBytes / mebibyte }, (_, n) => n * mebibyte)
    expect(Array.from({ length: 2 * laps.length }, one)).toEqual([...laps, ...laps])
    // What is taken is passed by, what is beyond the lap only serves when all before it is taken.
    expect(ranges.take(mebibyte)).toBe(0)
    const held = ranges.take(lapBytes - 2 * mebibyte)
    expect([one(), one(), one()]).toEqual([lapBytes - mebibyte, lapBytes - mebibyte, lapBytes - mebibyte])
    expect(ranges.take(2 * mebibyte)).toBe(lapBytes - mebibyte)
    expect(one()).toBe(lapBytes + mebibyte)
    ranges.give(held, lapBytes - 2 * mebibyte)
    expect([one(), one()]).toEqual([mebibyte, 2 * mebibyte])
  })

  it('never overlap what is taken, and none is lost', () => {
    const random = mulberry32(5)
    const ranges = new FreeRanges(64 * 64)
    const taken = new Map<number, number>()
    for (let step = 0; step < 2000; step++) {
      const size = 1 + Math.floor(random() * 500)
      const start = random() < 0.5 ? ranges.take(size) : -1
      if (start >= 0) {
        for (const [other, otherSize] of taken)
          expect(start + size <= other || other + otherSize <= start).toBe(true)
        taken.set(start, size)
      } else {
        const [first] = taken
        if (first === undefined) continue
        taken.delete(first[0])
        ranges.give(...first)
      }
    }
    for (const [start, size] of taken) ranges.give(start, size)
    expect(ranges.freeBytes).toBe(64 * 64)
    expect(ranges.take(64 * 64)).toBe(0)
  })
})
