import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import {
  FreshMemory,
  longestPeriodBytes,
  shortestPeriodBytes,
  youngCollector,
} from '../../../../src/messages/process/fresh-memory.js'

const quarter = shortestPeriodBytes / 4

/** Fresh memory of which the program retains what it takes as long as `retains`, and counts of collections. */
function fakeHeap() {
  const heap = { retains: false, externalBytes: 5e6, collections: 0, opened: 0 }
  const fresh = new FreshMemory(() => {
    heap.opened++
    return { collect: () => heap.collections++, externalBytes: () => heap.externalBytes }
  })
  /** Bytes that receives get until the next collection. */
  const period = () => {
    const before = heap.collections
    let taken = 0
    for (; heap.collections === before; taken += quarter) {
      if (heap.retains) heap.externalBytes += quarter
      fresh.take(quarter)
    }
    return taken
  }
  return { heap, period, take: (sizeBytes: number) => fresh.take(sizeBytes) }
}

describe('fresh memory of receives', () => {
  it('is collected in time where the program drops it', () => {
    const { heap, period } = fakeHeap()
    expect([period(), period(), period()]).toEqual(new Array(3).fill(shortestPeriodBytes))
    expect(heap.opened).toBe(1)
  })

  it('is collected ever more rarely where the program retains it, and as often as before once it does not', () => {
    const { heap, period } = fakeHeap()
    period()
    heap.retains = true
    const periods = Array.from({ length: 6 }, period)
    expect(periods).toEqual([1, 2, 4, 8, 16, 16].map((times) => times * shortestPeriodBytes))
    expect(periods.at(-1)).toBe(longestPeriodBytes)
    heap.retains = false
    expect([period(), period()]).toEqual([longestPeriodBytes, shortestPeriodBytes])
  })

  it('is collected after a second array at the earliest: the program holds the last one until it has the next', () => {
    const { heap, take } = fakeHeap()
    const collections = [1, 2, 3, 4, 5].map(() => {
      take(2 * shortestPeriodBytes)
      return heap.collections
    })
    expect(collections).toEqual([0, 1, 1, 2, 2])
  })

  it('is left to the engine where it cannot be collected', () => {
    let opened = 0
    const fresh = new FreshMemory(() => {
      opened++
      return undefined
    })
    for (let n = 0; n < 200; n++) fresh.take(quarter)
    expect(opened).toBe(16)
  })

  it('is released by a collection of young objects, and programs see no function for it', () => {
    // Node may have been started with it.
    const seen = runInNewContext('typeof gc')
    const { collect, externalBytes } = youngCollector()!
    expect(runInNewContext('typeof gc')).toBe(seen)
    let taken = 0
    const before = externalBytes()
    for (let n = 0; n < 64; n++) {
      taken += new Uint8Array(quarter).length
      collect()
    }
    expect(taken).toBe(64 * quarter)
    expect(externalBytes() - before).toBeLessThan(taken / 2)
  })
})
