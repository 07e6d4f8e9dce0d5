import { describe, expect, it } from 'vitest'
import type { FreshHeap } from '../../../../src/fabric/fabric.js'
import {
  bytesPerRoom,
  FreshMemory,
  longBytes,
  longestPeriodBytes,
  shortestPeriodBytes,
} from '../../../../src/messages/process/process-memory.js'

const shared = {
  open: (): FreshHeap | undefined => undefined,
  retainFreed: () => {},
  alone: (action: () => void) => {
    action()
    return true
  },
}
const quarter = shortestPeriodBytes / 4

/** Fresh memory of which the program retains what it takes as long as `retains`, and counts of collections. */
function fakeHeap() {
  const heap = { retains: false, externalBytes: 5e6, collections: 0, rooms: 0, opened: 0 }
  const open = () => {
    heap.opened++
    return {
      collectYoung: () => heap.collections++,
      externalBytes: () => heap.externalBytes,
      makeRoom: () => heap.rooms++,
    }
  }
  const fresh = new FreshMemory({ ...shared, open })
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

  it('has room made for it after 64 MiB of long arrays, not for short ones', () => {
    const { heap, take } = fakeHeap()
    for (let n = 0; n < 2000; n++) take(longBytes - 1)
    for (let n = 0; n < 15; n++) take(shortestPeriodBytes)
    expect(heap.rooms).toBe(0)
    const rooms = Array.from({ length: 9 }, () => {
      take(4 * shortestPeriodBytes)
      return heap.rooms
    })
    expect(rooms).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3])
  })

  it('has room made later where another process makes room', () => {
    let isBusy = true
    let rooms = 0
    const heap = { collectYoung: () => {}, externalBytes: () => 0, makeRoom: () => rooms++ }
    const alone = (action: () => void) => !isBusy && shared.alone(action)
    const fresh = new FreshMemory({ open: () => heap, retainFreed: () => {}, alone })
    for (let n = 0; n < 20; n++) fresh.take(shortestPeriodBytes)
    isBusy = false
    expect(rooms).toBe(0)
    fresh.take(shortestPeriodBytes)
    expect(rooms).toBe(1)
  })

  it('has the memory of long arrays retained when room is made', () => {
    let calls = 0
    const heap = { collectYoung: () => {}, externalBytes: () => 0, makeRoom: () => {} }
    const fresh = new FreshMemory({ ...shared, open: () => heap, retainFreed: () => calls++ })
    for (let bytes = 0; bytes < bytesPerRoom; bytes += shortestPeriodBytes) {
      expect(calls).toBe(0)
      fresh.take(shortestPeriodBytes)
    }
    expect(calls).toBe(1)
  })

  it('is left to the engine where it cannot be collected', () => {
    let opened = 0
    const open = () => {
      opened++
      return undefined
    }
    const fresh = new FreshMemory({ ...shared, open })
    for (let n = 0; n < 200; n++) fresh.take(quarter)
    expect(opened).toBe(16)
  })
})
