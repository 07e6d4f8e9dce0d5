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

  it('of an array that the program holds until it has the next is released by collections of young objects', () => {
    const { externalBytes } = youngCollector()!
    const fresh = new FreshMemory(youngCollector)
    const sizeBytes = 2 * shortestPeriodBytes
    const before = externalBytes()
    let held = new Uint8Array(sizeBytes)
    const most = Array.from({ length: 32 }, () => {
      fresh.take(sizeBytes)
      const next = new Uint8Array(sizeBytes)
      held = next
      return externalBytes() - before
    })
    // Other collections may come between: the few that they make old wait for the engine. Collected after, 12 remain.
    expect(Math.max(...most)).toBeLessThanOrEqual(6 * sizeBytes)
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
