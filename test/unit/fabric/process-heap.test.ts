import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isMallocSet, restoreHeapFlags, v8Heap } from '../../../src/fabric/process-heap.js'
import { FreshMemory, shortestPeriodBytes } from '../../../src/messages/process/process-memory.js'

const quarter = shortestPeriodBytes / 4
const turn = () => new Promise((resolve) => setImmediate(resolve))
const dropped = () => new WeakRef({})

describe("V8's heap", () => {
  it('releases what is dropped by a collection of young objects, and programs see no function for it', () => {
    // Node may have been started with it.
    const seen = runInNewContext('typeof gc')
    const { collectYoung, externalBytes } = v8Heap()!
    expect(runInNewContext('typeof gc')).toBe(seen)
    let taken = 0
    const before = externalBytes()
    for (let n = 0; n < 64; n++) {
      taken += new Uint8Array(quarter).length
      collectYoung()
    }
    expect(taken).toBe(64 * quarter)
    expect(externalBytes() - before).toBeLessThan(taken / 2)
  })

  it('releases an array that the program held until it had the next', () => {
    const { externalBytes } = v8Heap()!
    const fresh = new FreshMemory({ open: v8Heap, retainFreed: () => {}, alone: () => true })
    const sizeBytes = 2 * shortestPeriodBytes
    const before = externalBytes()
    const holder = { held: new Uint8Array(sizeBytes) }
    const most = Array.from({ length: 32 }, () => {
      fresh.take(sizeBytes)
      const next = new Uint8Array(sizeBytes)
      holder.held = next
      return externalBytes() - before
    })
    // Other collections may come between: the few that they make old wait for the engine. Collected after, 12 remain.
    expect(Math.max(...most)).toBeLessThanOrEqual(6 * sizeBytes)
  })

  it('is collected whole to make room, and again only once V8 has marked it', async () => {
    // More than the heap of the tests, which is large.
    const { makeRoom } = v8Heap(2 ** 29)!
    const first = dropped()
    await turn()
    makeRoom()
    expect(first.deref()).toBeUndefined()
    const second = dropped()
    await turn()
    makeRoom()
    expect(second.deref()).toBeDefined()
  })

  it('that is large has room', async () => {
    const { makeRoom } = v8Heap(2 ** 20)!
    const before = dropped()
    await turn()
    makeRoom()
    expect(before.deref()).toBeDefined()
  })

  it('has its flags back after a collection that did not end', () => {
    const before = cachedDataVersionTag()
    setFlagsFromString('--heap-growing-percent=70')
    // V8 finds it from this flag among others.
    expect(cachedDataVersionTag()).not.toBe(before)
    restoreHeapFlags()
    expect(cachedDataVersionTag()).toBe(before)
  })

  it.each(['--predictable-gc-schedule', '--heap-growing-percent=30'])(
    'leaves flags alone after %s',
    (flag) => {
      const before = cachedDataVersionTag()
      setFlagsFromString('--heap-growing-percent=70')
      process.execArgv.push(flag)
      try {
        restoreHeapFlags()
      } finally {
        process.execArgv.pop()
      }
      expect(cachedDataVersionTag()).not.toBe(before)
      restoreHeapFlags()
    },
  )
})

describe("glibc's limits for freed memory", () => {
  it.each([
    { MALLOC_TRIM_THRESHOLD_: '131072' },
    { MALLOC_TOP_PAD_: '0' },
    { MALLOC_MMAP_THRESHOLD_: '65536' },
    { GLIBC_TUNABLES: 'glibc.cpu.x86_shstk=on:glibc.malloc.trim_threshold=131072' },
  ])('are left alone where the environment sets one: %o', (env) => {
    expect(isMallocSet({ PATH: '/bin', ...env })).toBe(true)
  })

  it.each([{}, { MALLOC_ARENA_MAX: '2' }, { GLIBC_TUNABLES: 'glibc.malloc.arena_max=2' }])(
    'are set with %o',
    (env) => {
      expect(isMallocSet({ PATH: '/bin', ...env })).toBe(false)
    },
  )
})
