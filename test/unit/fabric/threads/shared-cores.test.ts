import { describe, expect, it } from 'vitest'
import { SharedCores, sharedCoresWords } from '../../../../src/fabric/threads/shared-cores.js'

/** A thread at a time of its own, which has waited that long for its core. */
class Thread {
  delayMs = 0
  usedMs = 0
  readonly cores: SharedCores

  constructor(words = new Int32Array(sharedCoresWords)) {
    const clocks = { delayMs: () => this.delayMs, usedMs: () => this.usedMs, cores: 2 }
    this.cores = new SharedCores(words, clocks, 0)
    this.cores.look(1000)
  }

  /** Waits for its core, for a part of the last 30 ms before a time. */
  waits(milliseconds: number, until: number): void {
    this.cores.look(until - 30)
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
    thread.waits(3, 1030)
    thread.delayMs += 3
    thread.cores.look(1200)
    expect(thread.sharedMs(1200)).toBe(0)
    thread.waits(12, 1230)
    expect(thread.sharedMs(1230)).toBe(100)
  })

  it('are shared for all threads of the world', () => {
    const words = new Int32Array(sharedCoresWords)
    const [one, other] = [new Thread(words), new Thread(words)]
    one.waits(12, 1030)
    expect(other.sharedMs(1030)).toBe(100)
  })

  it('count as shared for longer when they still are, for a second at most', () => {
    const thread = new Thread()
    const lengths: number[] = []
    for (let now = 1030, times = 0; times < 6; times++) {
      thread.waits(12, now)
      const length = thread.sharedMs(now)
      lengths.push(length)
      now += length + 65
    }
    expect(lengths).toEqual([100, 400, 1000, 1000, 1000, 1000])
  })

  it('count as shared for a short while again when they were free before', () => {
    const thread = new Thread()
    thread.waits(12, 1030)
    thread.waits(12, 1195)
    thread.waits(12, 2500)
    expect(thread.sharedMs(2500)).toBe(100)
  })

  it('belong to the world again although blocked threads waited for their cores to wake', () => {
    const thread = new Thread()
    thread.waits(12, 1030)
    thread.waits(25, 1090)
    thread.waits(25, 1129)
    thread.cores.look(1165)
    thread.cores.look(1190)
    expect(thread.sharedMs(1190)).toBe(0)
  })

  it('are still shared where a thread waits for its core just after a period, and some time to move', () => {
    const thread = new Thread()
    thread.waits(12, 1030)
    thread.waits(25, 1158)
    thread.cores.look(1165)
    expect(thread.sharedMs(1165)).toBe(0)
    thread.delayMs += 9
    thread.cores.look(1190)
    expect(thread.sharedMs(1190)).toBe(400)
  })

  it('are shared while the code of the world is compiled only after a longer look', () => {
    let delayMs = 0
    const cores = new SharedCores(undefined, { delayMs: () => delayMs, usedMs: () => 0, cores: 1 }, 1000)
    cores.look(1100)
    delayMs += 40
    cores.look(1140)
    expect(cores.areShared(1140)).toBe(false)
    cores.look(1180)
    expect(cores.areShared(1180)).toBe(true)
  })

  it('belong to the world where its own compilers and collectors take them', () => {
    const thread = new Thread()
    thread.cores.look(1000)
    thread.usedMs += 55
    thread.waits(12, 1030)
    expect(thread.sharedMs(1030)).toBe(0)
  })

  it('belong to the world again, even weeks later', () => {
    const thread = new Thread()
    thread.waits(12, 1030)
    expect(thread.sharedMs(1030 + 2 ** 31 + 1000)).toBe(0)
  })

  it('are shared where the clock stood still while the thread polled, if delays are not known', () => {
    const [known, unknown] = [
      new SharedCores(undefined, { delayMs: () => 0, usedMs: () => 0, cores: 1 }),
      new SharedCores(),
    ]
    for (const cores of [known, unknown]) cores.stoodStill(1500)
    expect([known.areShared(1500), unknown.areShared(1500)]).toEqual([false, true])
  })

  it('look at the delay only every few milliseconds', () => {
    let looks = 0
    const cores = new SharedCores(undefined, { delayMs: () => ++looks, usedMs: () => 0, cores: 1 }, 0)
    for (let now = 1000; now < 1060; now += 0.01) cores.look(now)
    expect(looks).toBe(3)
  })
})
