import { describe, expect, it } from 'vitest'
import { decodeLocation, encodeLocation, Staging } from '../../../../src/messages/process/staging.js'

const memory = new Uint8Array(1024)
/** Process 9 cannot read it. */
const fabric = {
  memory: () => memory,
  isSharedWith: (peer: number) => peer !== 9,
  locate: (peer: number, bytes: Uint8Array) =>
    peer === 9 ? undefined : { segment: 3, byteOffset: bytes.byteOffset },
  reach: () => memory,
}

describe('staging memory', () => {
  it('holds a copy until all of its readers have been released', () => {
    const staging = new Staging(fabric)
    const first = staging.copy(Uint8Array.of(1, 2, 3))!
    const second = staging.copy(Uint8Array.of(4))!
    expect([...first.bytes, ...second.bytes]).toEqual([1, 2, 3, 4])
    expect(first.addReader(1)).toEqual({ segment: 3, byteOffset: 0 })
    expect(first.addReader(2)).toEqual({ segment: 3, byteOffset: 0 })
    expect(second.addReader(1)).toEqual({ segment: 3, byteOffset: 64 })
    first.release()
    expect(first.isRead).toBe(true)
    expect(staging.freeBytes).toBe(1024 - 128)
    first.release()
    second.release()
    expect(first.isRead).toBe(false)
    expect(staging.freeBytes).toBe(1024)
  })

  it('is free again also when what was copied has been detached meanwhile', () => {
    const staging = new Staging(fabric)
    const bytes = Uint8Array.of(1, 2, 3)
    const copy = staging.copy(bytes)!
    copy.addReader(1)
    structuredClone(bytes, { transfer: [bytes.buffer] })
    copy.release()
    expect(staging.freeBytes).toBe(1024)
  })

  it('refuses what it has no room for, and names the processes that can read it', () => {
    const staging = new Staging(fabric)
    expect([staging.isSharedWith(1), staging.isSharedWith(9)]).toEqual([true, false])
    expect(staging.copy(new Uint8Array(1025))).toBeUndefined()
    const copy = staging.copy(new Uint8Array(1024))!
    expect(staging.copy(new Uint8Array(1))).toBeUndefined()
    copy.addReader(1)
    copy.release()
    expect(staging.freeBytes).toBe(1024)
  })
})

describe('reserved memory', () => {
  it('is a quarter at most, and free again when it is given back or its owner has released it', () => {
    const staging = new Staging(fabric)
    const [one, other] = [{}, {}]
    const first = staging.reserve(65, one)!
    const second = staging.reserve(100, one)!
    expect(staging.reserve(128, other)).toBeUndefined()
    staging.giveBack(first, one)
    expect(staging.freeBytes).toBe(1024 - 128)
    expect(staging.reserve(128, other)!.byteLength).toBe(128)
    staging.release(one)
    expect(staging.freeBytes).toBe(1024 - 128)
    staging.release(one)
    staging.release(other)
    expect([staging.freeBytes, second.byteLength]).toEqual([1024, 100])
  })
})

describe('where a message is', () => {
  it('survives its way in a frame, also past 4 GiB', () => {
    const location = { segment: 2 ** 31 - 1, byteOffset: 2 ** 40 + 8 }
    expect(decodeLocation(encodeLocation(location))).toEqual(location)
  })
})
