import { describe, expect, it } from 'vitest'
import { CheckedBuffers } from '../../../../src/messages/datatype/checked-buffers.js'
import { newArrayOf, typeCode } from '../../../../src/messages/datatype/elements.js'

const arrays = (count: number, length = 1) => Array.from({ length: count }, () => new Float64Array(length))

/** Asks for each, and has those checked that are not known; how many were known. */
function known(buffers: CheckedBuffers, of: readonly Float64Array[]): number {
  let found = 0
  for (const array of of) {
    const checked = buffers.find(array)
    if (checked !== undefined) found++
    const { type, bytes } = checked ?? buffers.check(array)
    expect([type, bytes.buffer, bytes.byteLength]).toEqual([
      typeCode.Float64Array,
      array.buffer,
      array.byteLength,
    ])
  }
  return found
}

describe('CheckedBuffers', () => {
  it.each([1, 2, 3, 64, 100])('knows all of a window of %i arrays from the third time on', (count) => {
    const buffers = new CheckedBuffers()
    const window = arrays(count)
    known(buffers, window)
    known(buffers, window)
    for (let i = 0; i < 5; i++) expect(known(buffers, window)).toBe(count)
  })

  it('does not know an array that has lost its memory', () => {
    const buffers = new CheckedBuffers()
    const [array] = arrays(1)
    buffers.check(array)
    expect(buffers.find(array)).toBeDefined()
    structuredClone(array.buffer, { transfer: [array.buffer] })
    expect(buffers.find(array)).toBeUndefined()
    expect(() => buffers.check(array)).toThrow('got a detached one')
  })

  it('knows only the last of arrays over much memory', () => {
    const buffers = new CheckedBuffers()
    const large = arrays(3, 8192)
    known(buffers, large)
    expect(large.map((array) => buffers.find(array) !== undefined)).toEqual([false, false, true])
    const [longest] = arrays(1, 8193)
    buffers.check(longest)
    expect(buffers.find(longest)).toBeUndefined()
  })

  it('refuses what is not of fixed length', () => {
    const Resizable = ArrayBuffer as new (sizeBytes: number, options: object) => ArrayBuffer
    const resizable = new Uint8Array(new Resizable(8, { maxByteLength: 16 }))
    expect(() => new CheckedBuffers().check(resizable)).toThrow('got a resizable one')
  })
})

describe('newArrayOf', () => {
  it.each(['Float32Array', 'Float64Array', 'Int8Array', 'BigUint64Array'] as const)(
    'copies every bit of a %s, those of NaNs too',
    (name) => {
      const bytes = new Uint8Array(1024).map((_, i) => [1, 0, 160 + i, 127][i % 4])
      for (const sizeBytes of [0, 8, 56, 64, 72, 512]) {
        const copy = newArrayOf(typeCode[name], bytes, 8, sizeBytes)
        expect(copy.constructor.name).toBe(name)
        const copied = new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength)
        expect([...copied]).toEqual([...bytes.subarray(8, 8 + sizeBytes)])
      }
    },
  )
})
