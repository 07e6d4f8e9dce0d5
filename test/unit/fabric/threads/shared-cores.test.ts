import { describe, expect, it } from 'vitest'
import { SharedCores, sharedCoresWords } from '../../../../src/fabric/threads/shared-cores.js'

/** A thread at a time of its own, which has waited that long for its core. */
class Thread {
  delayMs = 0
  readonly cores: SharedCores

  constructor(words = new Int32Array(sharedCoresWords)) {
    this.cores = new SharedCores(words, () => this.delayMs, 0)
    this.cores.look(1000)
  }

  /** Waits for its core, for a part of the last ten milliseconds before a time. */
  waits(milliseconds: number, until: number): void {
    this.cores.look(until - 10)
    this.delayMs += milliseconds
    this.cores.look(until)
  }

  /** Returns for how long after `now` its cores count as shared. */
  sharedMs(now: number): number {
    let milliseconds = 0
    while (this.cores.areShared(now + milliseconds)) milliseconds++
    return milliseconds
  }
}

describe('cores that others use', () => {
  it('belong to the world until a thread has waited for its own', () => {
    const thread = new Thread()
    expect(thread.sharedMs(1000)).toBe(0)
    thread.waits(1, 1010)
    thread.delayMs += 3
    thread.cores.look(1200)
    expect(thread.sharedMs(1200)).toBe(0)
    thread.waits(4, 1210)
    expect(thread.sharedMs(1210)).toBe(100)
  })

  it('are shared for all threads of the world', () => {
    const words = new Int32Array(sharedCoresWords)
    const [one, other] = [new Thread(words), new Thread(words)]
    one.waits(4, 1010)
    expect(other.sharedMs(1010)).toBe(100)
  })

  it('count as shared for longer when they still are, for a second at most', () => {
    const thread = new Thread()
    const lengths: number[] = []
    for (let now = 1010, times = 0; times < 6; times++) {
      thread.waits(4, now)
      const length = thread.sharedMs(now)
      lengths.push(length)
      now += length + 45
    }
    expect(lengths).toEqual([100, 400, 1000, 1000, 1000, 1000])
  })

  it('count as shared for a short while again when they were free before', () => {
    const thread = new Thread()
    thread.waits(4, 1010)
    thread.waits(4, 1155)
    thread.waits(4, 2500)
    expect(thread.sharedMs(2500)).toBe(100)
  })

  it('belong to the world again although blocked threads waited for their cores to wake', () => {
    const thread = new Thread()
    thread.waits(4, 1010)
    thread.waits(9, 1100)
    thread.waits(9, 1109)
    thread.cores.look(1120)
    thread.cores.look(1130)
    expect(thread.sharedMs(1130)).toBe(0)
  })

  it('are still shared where a thread waits for its core just after a period, and some time to move', () => {
    const thread = new Thread()
    thread.waits(4, 1010)
    thread.waits(9, 1125)
    thread.cores.look(1145)
    expect(thread.sharedMs(1145)).toBe(0)
    thread.delayMs += 3
    thread.cores.look(1154)
    expect(thread.sharedMs(1154)).toBe(400)
  })

  it('are not looked at while the code of the world is compiled', () => {
    const cores = new SharedCores(undefined, () => 1e6, 1000)
    cores.look(1100)
    cores.look(1500)
    expect(cores.areShared(1500)).toBe(false)
  })

  it('belong to the world again, even weeks later', () => {
    const thread = new Thread()
    thread.waits(4, 1010)
    expect(thread.sharedMs(1010 + 2 ** 31 + 1000)).toBe(0)
  })

  it('are shared where the clock stood still while the thread polled, if delays are not known', () => {
    const [known, unknown] = [new SharedCores(undefined, () => 0), new SharedCores()]
    for (const cores of [known, unknown]) cores.stoodStill(1500)
    expect([known.areShared(1500), unknown.areShared(1500)]).toEqual([false, true])
  })

  it('look at the delay only every few milliseconds', () => {
    let looks = 0
    const cores = new SharedCores(undefined, () => ++looks, 0)
    for (let now = 1000; now < 1020; now += 0.01) cores.look(now)
    expect(looks).toBe(3)
  })
})
