import { describe, expect, it } from 'vitest'
import { elementsIn, newArray, typeCode, typeCodeOf } from '../../../../src/messages/datatype/elements.js'
import { misfit, payloadOf, requireReceiveBuffer } from '../../../../src/messages/datatype/payload.js'
import {
  contiguous,
  copyElements,
  pack,
  StridedView,
  strided,
  unpack,
} from '../../../../src/messages/datatype/strided-view.js'
import { elementTypes, marked } from '../p2p/point-to-point-payloads.js'
import { thrownCode } from '../p2p/point-to-point-world.js'

describe('element types', () => {
  it('have the wire codes of the format', () => {
    const integers = 'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array'
    const names = `value ${integers} Float32Array Float64Array BigInt64Array BigUint64Array`.split(' ')
    expect(typeCode).toEqual(Object.fromEntries(names.map((name, code) => [name, code])))
    for (const type of elementTypes) {
      expect(typeCodeOf(newArray(typeCode[type], 2))).toBe(typeCode[type])
      expect(newArray(typeCode[type], 2).constructor.name).toBe(type)
    }
  })

  it('take a Buffer as bytes, and everything else as a value', () => {
    expect(typeCodeOf(Buffer.from('abc'))).toBe(typeCode.Uint8Array)
    const values = [null, undefined, 1, 'x', [1], {}, new DataView(new ArrayBuffer(4)), new ArrayBuffer(4)]
    for (const value of values) expect(typeCodeOf(value)).toBe(typeCode.value)
  })

  it('are decoded from bytes at any alignment', () => {
    for (const type of elementTypes) {
      const array = marked(type, 5, 1, 2, 3)
      const bytes = new Uint8Array(array.buffer)
      for (let shift = 0; shift < 9; shift++) {
        const shifted = new Uint8Array(64)
        shifted.set(bytes, shift)
        expect(elementsIn(typeCode[type], shifted.subarray(shift, shift + bytes.length))).toEqual(array)
      }
    }
  })
})

describe('strided views', () => {
  const shapes = [
    { count: 0, blockLength: 3, stride: 4 },
    { count: 3, blockLength: 0, stride: 4 },
    { count: 1, blockLength: 7, stride: -100 },
    { count: 4, blockLength: 1, stride: 5 },
    { count: 4, blockLength: 3, stride: 3 },
    { offset: 2, count: 5, blockLength: 2, stride: 7 },
    { offset: 90, count: 5, blockLength: 2, stride: -7 },
    { offset: 1, count: 2, blockLength: 40, stride: 50 },
  ]

  it('pack and unpack the elements they name, of every type', () => {
    for (const type of elementTypes) {
      for (const shape of shapes) {
        const array = marked(type, 100, 0, 1, 2)
        const { offset = 0, count, blockLength, stride } = shape
        const view = strided(array, shape)
        const at: number[] = []
        for (let block = 0; block < count; block++) {
          for (let i = 0; i < blockLength; i++) at.push(offset + block * stride + i)
        }
        expect(view.length).toBe(at.length)
        const packed = pack(view)
        expect([...packed]).toEqual(at.map((index) => array[index]))
        const target = newArray(typeCode[type], 100)
        unpack(packed, strided(target, shape))
        const expected = newArray(typeCode[type], 100)
        for (const index of at) (expected as Float64Array)[index] = (array as Float64Array)[index]
        expect(target).toEqual(expected)
        const copied = newArray(typeCode[type], 100)
        copyElements(view, strided(copied, { ...shape }))
        expect(copied).toEqual(expected)
      }
    }
  })

  it('unpack fewer elements than they have, and end within a block', () => {
    const target = new Float64Array(10)
    unpack(Float64Array.of(1, 2, 3), strided(target, { count: 3, blockLength: 2, stride: 4 }))
    expect(Array.from(target)).toEqual([1, 2, 0, 0, 3, 0, 0, 0, 0, 0])
  })

  it('are plain arrays where their elements are contiguous', () => {
    const array = Int32Array.from({ length: 10 }, (_, i) => i)
    expect(contiguous(strided(array, { offset: 2, count: 2, blockLength: 3, stride: 3 }))).toEqual(
      array.subarray(2, 8),
    )
    expect(contiguous(strided(array, { count: 2, blockLength: 3, stride: 4 }))).toBeInstanceOf(StridedView)
  })

  it('reject shapes that are not integers or reach outside', () => {
    const array = new Float64Array(10)
    const refused = [
      { count: -1, blockLength: 1, stride: 1 },
      { count: 1.5, blockLength: 1, stride: 1 },
      { count: 1, blockLength: Number.NaN, stride: 1 },
      { count: 2, blockLength: 1, stride: 0.5 },
      { offset: -1, count: 1, blockLength: 1, stride: 1 },
      { count: 3, blockLength: 2, stride: 5 },
      { count: 2, blockLength: 1, stride: -1 },
      { offset: 9, count: 1, blockLength: 2, stride: 1 },
    ]
    for (const shape of refused) expect(thrownCode(() => strided(array, shape))).toBe('ERR_COUNT')
    const one = { count: 1, blockLength: 1, stride: 1 }
    for (const value of [null, [1], new DataView(new ArrayBuffer(8)), new ArrayBuffer(8)]) {
      expect(thrownCode(() => strided(value as never, one))).toBe('ERR_TYPE')
    }
  })

  it('may overlap in what is sent, not in what is received into', () => {
    const array = Int8Array.of(1, 2, 3, 4)
    const view = strided(array, { count: 3, blockLength: 2, stride: 1 })
    expect([...pack(view)]).toEqual([1, 2, 2, 3, 3, 4])
    expect(thrownCode(() => requireReceiveBuffer(view))).toBe('ERR_COUNT')
    expect(
      thrownCode(() => requireReceiveBuffer(strided(array, { count: 2, blockLength: 2, stride: 2 }))),
    ).toBe('none')
  })
})

describe('payloads', () => {
  it('reject buffers that are resizable or detached', () => {
    const changing = (Memory: unknown) =>
      new (Memory as new (n: number, o: object) => ArrayBuffer)(16, { maxByteLength: 64 })
    const [resizable, growable] = [changing(ArrayBuffer), changing(SharedArrayBuffer)]
    const detached = new Float64Array(4)
    structuredClone(detached.buffer, { transfer: [detached.buffer] })
    const detachedEmpty = new Float64Array(0)
    structuredClone(detachedEmpty.buffer, { transfer: [detachedEmpty.buffer] })
    for (const array of [new Float64Array(resizable), new Int8Array(growable), detached, detachedEmpty]) {
      expect(thrownCode(() => payloadOf(array))).toBe('ERR_TYPE')
      expect(thrownCode(() => requireReceiveBuffer(array))).toBe('ERR_TYPE')
    }
    expect(thrownCode(() => requireReceiveBuffer({}))).toBe('ERR_TYPE')
    expect(thrownCode(() => requireReceiveBuffer(null))).toBe('ERR_TYPE')
  })

  it('take empty arrays, and arrays over shared memory', () => {
    expect(payloadOf(new Float64Array(0))).toMatchObject({ countElems: 0, sizeBytes: 0 })
    const shared = new Int32Array(new SharedArrayBuffer(8))
    shared.set([1, 2])
    expect(pack(payloadOf(shared).data)).toEqual(Int32Array.of(1, 2))
  })

  it('are below 4 GiB', () => {
    const array = new Uint8Array(65_536)
    const view = (count: number) => strided(array, { count, blockLength: 65_536, stride: 0 })
    expect(payloadOf(view(65_535)).sizeBytes).toBe(65_535 * 65_536)
    expect(thrownCode(() => payloadOf(view(65_536)))).toBe('ERR_COUNT')
  })

  it('fit a receive buffer of the same type with room for them', () => {
    const { Float64Array: f64, value } = typeCode
    expect(misfit(f64, 3, undefined)).toBeUndefined()
    expect(misfit(f64, 3, new Float64Array(3))).toBeUndefined()
    expect(misfit(f64, 4, new Float64Array(3))?.code).toBe('ERR_TRUNCATE')
    expect(misfit(f64, 3, new Float32Array(3))?.code).toBe('ERR_TYPE_MISMATCH')
    expect(misfit(value, 1, new Uint8Array(100))?.code).toBe('ERR_TYPE_MISMATCH')
    const view = strided(new Float64Array(9), { count: 3, blockLength: 1, stride: 4 })
    expect(misfit(f64, 3, view)).toBeUndefined()
    expect(misfit(f64, 4, view)?.code).toBe('ERR_TRUNCATE')
  })
})
