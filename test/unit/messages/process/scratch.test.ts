import { describe, expect, it } from 'vitest'
import { retainedBytes, Scratch } from '../../../../src/messages/process/process-memory.js'

describe('scratch memory', () => {
  it('is taken again once it has been given back, if it fits and is at most twice as long', () => {
    const scratch = new Scratch()
    const first = scratch.take(1000)
    expect(first.byteLength).toBe(1000)
    expect(scratch.take(1000)).not.toBe(first)
    scratch.give(first)
    expect(scratch.take(1001)).not.toBe(first)
    expect(scratch.take(499)).not.toBe(first)
    expect(scratch.take(500)).toBe(first)
    expect(scratch.freeBytes).toBe(0)
  })

  it('is retained up to a bound: what was given first goes first', () => {
    const scratch = new Scratch()
    const half = retainedBytes / 2
    const buffers = [0, 1, 2].map(() => scratch.take(half))
    for (const buffer of buffers) scratch.give(buffer)
    expect(scratch.freeBytes).toBe(retainedBytes)
    expect([scratch.take(half), scratch.take(half)]).toEqual([buffers[1], buffers[2]])
    expect(buffers).not.toContain(scratch.take(half))
    scratch.give(new ArrayBuffer(retainedBytes + 1))
    expect(scratch.freeBytes).toBe(0)
  })
})
