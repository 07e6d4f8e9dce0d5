import { deepStrictEqual } from 'node:assert'
import { describe, expect, it } from 'vitest'
import { deepestValue } from '../../../../src/messages/datatype/value-format.js'
import { decodeValue } from '../../../../src/messages/datatype/value-reader.js'
import { encodeValue } from '../../../../src/messages/datatype/value-writer.js'
import { coded } from '../../../support/on-ranks.js'
import { thrownCode } from '../p2p/point-to-point-world.js'

const copy = (value: unknown) => decodeValue(encodeValue(value))
const hex = (value: unknown) => Buffer.from(encodeValue(value)).toString('hex')

const holed: unknown[] = Object.assign(new Array(4), { 0: 1, 2: undefined })

/** Objects within each other. */
function nested(levels: number): unknown {
  let value: unknown = null
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? { value } : [value]
  return value
}

describe('values', () => {
  it('of every kind arrive as the structured clone algorithm copies them', () => {
    const list = [
      ...[0, -0, 1, -1, 63, 64, -65, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 0.1, 1e308, Number.NaN, -Infinity],
      ...[0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, -(2n ** 64n) - 1n, 2n ** 1000n],
      ...['', 'a', 'x'.repeat(24), 'x'.repeat(25), 'é', '€'.repeat(100), '😀', '\ud800'],
      ...[`${'a'.repeat(50)}\udc00b`],
      ...['\ufeffmark', '\0', 'x'.repeat(10_000), `${'x'.repeat(10_000)}é`],
      ...[undefined, null, true, false],
      ...[new Date(5), /a[/]b/gimsuy, /(?:)/],
      ...[Object(1), Object('text'), Object(false), Object(5n)],
      ...[new Map<unknown, unknown>([[{ a: 1 }, new Set([1, 'x'])]]), new Set([[]])],
      ...[new ArrayBuffer(3), new DataView(new ArrayBuffer(8), 2, 5), new Float64Array([1, Number.NaN])],
      ...[new BigUint64Array([1n]), new Uint8ClampedArray([300]), new Float32Array(0)],
      ...[holed, new Array(5), { a: undefined, 7: 'index', '': 0, é: 1 }],
    ]
    for (const value of list) {
      deepStrictEqual(copy(value), structuredClone(value))
      deepStrictEqual(copy([value]), structuredClone([value]))
    }
    deepStrictEqual(copy(list), structuredClone(list))
    const lists = [
      [1, 2, 3, -0],
      [1, 2, 3, 2 ** 31],
      [0, -1, 1, -(2 ** 31)],
      [0.5, 1, 2, Number.NaN],
      [1, 2, 3, null],
    ]
    deepStrictEqual(copy(lists), structuredClone(lists))
    expect((copy(new Date(Number.NaN)) as Date).getTime()).toBeNaN()
  })

  it('have the same bytes everywhere', () => {
    expect(hex(5)).toBe('040a')
    expect(hex(-1)).toBe('0401')
    expect(hex(0.5)).toBe('05000000000000e03f')
    expect(hex('no')).toBe('09026e6f')
    expect(hex('né')).toBe('0a026e00e900')
    expect(hex([{ x: 1, y: 'a' }, { x: 2 }])).toBe('0d020c0209017804020901790901610c010b000404')
    expect(hex([1, -1, 2, 3])).toBe('180401000000ffffffff0200000003000000')
    expect(hex([1, -1, 2, 0.5])).toBe('1904000000000000f03f000000000000f0bf0000000000000040000000000000e03f')
    expect(hex(new Int16Array([1, 2]))).toBe('17040002160401000200')
    expect(hex(Number.NaN)).toBe('06')
  })

  it('keep what is shared and what is cyclic within them', () => {
    const shared = { name: 'shared' }
    const memory = new ArrayBuffer(16)
    const value = {
      ...{ shared, again: [shared, shared], views: [new Int32Array(memory, 4, 2), new Uint8Array(memory)] },
      ...{
        self: undefined as unknown,
        map: new Map<unknown, unknown>(),
        error: new RangeError('far', { cause: shared }),
      },
    }
    value.self = value
    value.map.set(value.map, value)
    const back = copy(value) as typeof value
    expect(back.self).toBe(back)
    expect(back.again[0]).toBe(back.shared)
    expect(back.again[1]).toBe(back.shared)
    expect(back.error.cause).toBe(back.shared)
    expect(back.map.get(back.map)).toBe(back)
    expect(back.views[0].buffer).toBe(back.views[1].buffer)
    expect(back.views[0].byteOffset).toBe(4)
  })

  it('that are errors arrive with name, message, stack and cause', () => {
    class Own extends TypeError {
      readonly extra = 1
    }
    const sent = new Own('what', { cause: new Error('why') })
    const error = copy(sent) as TypeError & { readonly extra?: number }
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe('what')
    expect(error.stack).toBe(sent.stack)
    expect((error.cause as Error).message).toBe('why')
    expect(error.extra).toBeUndefined()
    expect(copy(new Error('no cause'))).not.toHaveProperty('cause')
    expect((copy(new DOMException('stop', 'AbortError')) as Error).message).toBe('stop')
  })

  it('that are long sparse arrays take no room for what does not exist', () => {
    const sparse: unknown[] = new Array(4_000_000_000)
    sparse[5] = 'five'
    sparse[3_999_999_999] = sparse
    const bytes = encodeValue(sparse)
    expect(bytes.length).toBeLessThan(40)
    const back = decodeValue(bytes) as typeof sparse
    expect(back.length).toBe(sparse.length)
    expect(Object.keys(back)).toEqual(Object.keys(sparse))
    expect(back[3_999_999_999]).toBe(back)
  })

  it('of a class arrive as plain objects; the prototype is never set', () => {
    class Point {
      readonly x = 1
      get y() {
        return 2
      }
    }
    deepStrictEqual(copy(new Point()), { x: 1 })
    deepStrictEqual(copy(Object.assign(Object.create(null), { a: 1 })), { a: 1 })
    class Cents extends Number {
      override valueOf() {
        return super.valueOf() * 100
      }
    }
    deepStrictEqual(copy(new Cents(3)), Object(3))
    const forged = copy(JSON.parse('{"__proto__": {"polluted": 1}}')) as object
    expect(Object.getPrototypeOf(forged)).toBe(Object.prototype)
    expect(Object.keys(forged)).toEqual(['__proto__'])
  })

  it('may send another value from a getter', () => {
    const value = {
      get inner() {
        return copy({ a: [1, 2] })
      },
      after: 'x',
    }
    expect(copy(value)).toEqual({ inner: { a: [1, 2] }, after: 'x' })
  })

  it('copy arrays in shared memory, which arrive over one ordinary buffer', () => {
    const memory = new SharedArrayBuffer(16)
    const value = { doubles: new Float64Array(memory, 8), bytes: new DataView(memory, 2, 3) }
    value.doubles[0] = 0.5
    const back = copy(value) as typeof value
    value.doubles[0] = 2
    expect(back.doubles).toEqual(Float64Array.of(0.5))
    expect(back.doubles.buffer).toBeInstanceOf(ArrayBuffer)
    expect(back.bytes.buffer).toBe(back.doubles.buffer)
    expect([back.bytes.byteOffset, back.bytes.byteLength]).toEqual([2, 3])
  })

  it('are refused with what cannot be cloned, named', () => {
    const shared = new Int8Array(new SharedArrayBuffer(8))
    const refused: [unknown, RegExp][] = [
      [() => 1, /^send: \(\) => 1 could not be cloned/],
      [Symbol('s'), /Symbol\(s\) could not/],
      [{ deep: [Promise.resolve()] }, /Promise could not/],
      [new WeakMap(), /WeakMap could not/],
      [new WeakRef({}), /WeakRef could not/],
      [(function* () {})(), /Generator could not/],
      [new Map().values(), /Map Iterator could not/],
      [new URL('http://a'), /URL could not/],
      [new Blob([]), /Blob could not/],
      [new SharedArrayBuffer(8), /^send: a SharedArrayBuffer cannot be sent, .*send an array on it/],
      [{ view: shared, buffer: shared.buffer }, /SharedArrayBuffer cannot be sent/],
      [Object.create({ [Symbol.toStringTag]: 'Number' }), /requires that 'this' be a Number/],
      [nested(deepestValue + 1), /more than 1000 objects deep/],
      [nested(100_000), /more than 1000 objects deep/],
    ]
    for (const [value, message] of refused) {
      expect(() => encodeValue(value, 'send')).toThrow(coded('ERR_CLONE'))
      expect(() => encodeValue(value, 'send')).toThrow(message)
    }
    // What was written before is not part of the next value.
    expect(hex(1)).toBe('0402')
    deepStrictEqual(copy(nested(deepestValue)), nested(deepestValue))
  })
})

it('bytes that claim more than they hold, or too deep, are no value', () => {
  const huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]
  for (const tag of [9, 10, 11, 12, 13, 16, 17, 22, 24, 25])
    expect(thrownCode(() => decodeValue(Uint8Array.of(tag, ...huge)))).toBe('ERR_CLONE')
  expect(thrownCode(() => decodeValue(Uint8Array.of(14, ...huge, 0)))).toBe('ERR_CLONE')
  const deep = new Uint8Array(2 * 100_000).map((_, i) => (i % 2 === 0 ? 13 : 1))
  expect(thrownCode(() => decodeValue(deep))).toBe('ERR_CLONE')
})

it('bytes of a value may lie in shared memory, and be lent', () => {
  const value = { list: [1, 0.5, 'text'], view: new Float64Array(3).fill(2) }
  const bytes = encodeValue(value)
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  const decoded = decodeValue(shared)
  shared.fill(0)
  deepStrictEqual(decoded, value)
})
