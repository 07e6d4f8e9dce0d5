import { describe, expect, it } from 'vitest'
import { newArray, type TypedArray, typeCode } from '../../../../src/messages/datatype/elements.js'
import {
  createOperation,
  type OperationName,
  operationNames,
  readyBigintOperation,
  readyNumberOperation,
  readyOperation,
} from '../../../../src/messages/datatype/operation.js'
import { coded } from '../../../support/on-ranks.js'

const types = Object.entries(typeCode).filter(([, code]) => code !== typeCode.value)
const isBig = (type: number) => type === typeCode.BigInt64Array || type === typeCode.BigUint64Array
const isFloat = (type: number) => type === typeCode.Float32Array || type === typeCode.Float64Array

function arrayOf(type: number, values: readonly (number | bigint)[]): TypedArray {
  const array = newArray(type, values.length)
  values.forEach((value, i) => {
    array[i] = (isBig(type) ? BigInt(value) : Number(value)) as never
  })
  return array
}

function apply(op: OperationName, left: TypedArray, right: TypedArray, type: number): TypedArray {
  const ready = readyOperation(op, type, left.length)
  if (ready.kind !== 'kernel') throw new Error('expected a kernel')
  const out = newArray(type, left.length)
  ready.kernel(out, left, right)
  return out
}

/** C's arithmetic by exact integers and one truncation to the width of the type. */
const exact: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  sum: (a, b) => a + b,
  prod: (a, b) => a * b,
  min: (a, b) => [a, b].sort((x, y) => (x < y ? -1 : 1))[0],
  max: (a, b) => [a, b].sort((x, y) => (x > y ? -1 : 1))[0],
  land: (a, b) => BigInt(a !== 0n && b !== 0n),
  lor: (a, b) => BigInt(a !== 0n || b !== 0n),
  lxor: (a, b) => BigInt((a !== 0n) !== (b !== 0n)),
  band: (a, b) => a & b,
  bor: (a, b) => a | b,
  bxor: (a, b) => a ^ b,
}

describe('built-in operations on integers', () => {
  const interesting = [0, 1, 2, 3, 100, 127, 128, 255, 40_000, 65_537, 2 ** 31 - 1, 2 ** 31, -1, -2, -77]
    .map(BigInt)
    .concat(2n ** 53n + 1n, -(2n ** 63n))
  const integers = types.filter(([, type]) => !isFloat(type) && type !== typeCode.Uint8ClampedArray)
  it.each(integers)('wrap as in C: %s', (name, type) => {
    const bits = newArray(type, 1).BYTES_PER_ELEMENT * 8
    const wrap = name.includes('Uint') ? BigInt.asUintN : BigInt.asIntN
    const values = interesting.map((value) => wrap(bits, value))
    const right = arrayOf(type, values)
    for (const [op, oracle] of Object.entries(exact)) {
      for (const a of values) {
        const left = newArray(type, values.length).fill(arrayOf(type, [a])[0] as never)
        const results = values.map((b) => wrap(bits, oracle(a, b)))
        expect(apply(op as OperationName, left, right, type), `${op} of ${a}`).toEqual(arrayOf(type, results))
      }
    }
  })

  it('saturate for Uint8ClampedArray', () => {
    const type = typeCode.Uint8ClampedArray
    const of = (op: OperationName) => apply(op, arrayOf(type, [200, 3]), arrayOf(type, [100, 4]), type)
    expect([of('sum'), of('prod')]).toEqual([arrayOf(type, [255, 7]), arrayOf(type, [255, 12])])
  })
})

describe('built-in operations on floats', () => {
  it.each(types.filter(([, type]) => isFloat(type)))('%s', (_, type) => {
    const left = arrayOf(type, [1.5, -0, 0, Number.NaN, 3, Number.NEGATIVE_INFINITY])
    const right = arrayOf(type, [2.25, 0, -0, 1, Number.NaN, 5])
    const of = (op: OperationName) => [...(apply(op, left, right, type) as Float64Array)]
    expect(of('sum')).toEqual([3.75, 0, 0, Number.NaN, Number.NaN, Number.NEGATIVE_INFINITY])
    expect(of('prod')).toEqual([3.375, -0, -0, Number.NaN, Number.NaN, Number.NEGATIVE_INFINITY])
    expect(of('min')).toEqual([1.5, -0, -0, Number.NaN, Number.NaN, Number.NEGATIVE_INFINITY])
    expect(of('max')).toEqual([2.25, 0, 0, Number.NaN, Number.NaN, 5])
    expect(of('land')).toEqual([1, 0, 0, 1, 1, 1])
    expect(of('lor')).toEqual([1, 0, 0, 1, 1, 1])
    expect(of('lxor')).toEqual([0, 0, 0, 0, 0, 0])
    for (const op of ['band', 'bor', 'bxor'] as const) {
      expect(() => of(op)).toThrow(coded('ERR_OP'))
    }
  })
})

describe('NaN', () => {
  const words = { 8: Uint32Array, 9: BigUint64Array }
  const patterns = {
    8: [0x7fc00000, 0xffc00000, 0x7fc00123, 0xffc00123, 0x7f800000, 0xff800000, 0, 0x3f800000],
    9: [
      ...[0x7ff8000000000000n, 0xfff8000000000000n, 0x7ff8000000000123n, 0xfff8000000000123n],
      ...[0x7ff0000000000000n, 0xfff0000000000000n, 0n, 0x3ff0000000000000n],
    ],
  }
  const theNaN = { 8: 0x7fc00000, 9: 0x7ff8000000000000n }
  const ops = ['sum', 'prod', 'min', 'max', 'minloc', 'maxloc'] as const
  const cases = [typeCode.Float32Array, typeCode.Float64Array].flatMap((type) =>
    ops.map((op) => [op, type] as const),
  )

  // A loop that has run often is compiled anew, with another order of operands.
  it.each(cases)('%s of type %i: has the same bits from the first call to the ten thousandth', (op, type) => {
    const all = patterns[type]
    // Every pair of patterns, and five more elements: whole blocks of four and a rest.
    const pairs = all.flatMap((a) => all.map((b) => [a, b] as const))
    pairs.push(...pairs.slice(0, 6))
    const of = (side: 0 | 1) => {
      const array = newArray(type, pairs.length)
      const bits = new words[type](array.buffer as ArrayBuffer)
      pairs.forEach((pair, i) => {
        bits[i] = pair[side] as never
      })
      return array
    }
    const [left, right] = [of(0), of(1)]
    const outcomes = new Set<string>()
    for (let call = 0; call < 10_000; call++) {
      const out = apply(op, left, right, type)
      const bits = new words[type](out.buffer as ArrayBuffer)
      if (call % 1000 < 3) outcomes.add(bits.join())
    }
    expect(outcomes.size).toBe(1)
    const out = apply(op, left, right, type) as Float64Array
    const bits = new words[type](out.buffer as ArrayBuffer)
    const found = [...out.keys()].filter((i) => Number.isNaN(out[i])).map((i) => bits[i])
    expect(new Set(found)).toEqual(new Set([theNaN[type]]))
  })
})

describe('minloc and maxloc', () => {
  it.each(types)('of %s: ties go to the lower index, in place too', (_, type) => {
    const left = arrayOf(type, [5, 7, 5, 1, 9, 2, 4, 4])
    const right = arrayOf(type, [5, 3, 6, 0, 8, 9, 4, 4])
    expect(apply('minloc', left, right, type)).toEqual(arrayOf(type, [5, 3, 5, 1, 8, 9, 4, 4]))
    expect(apply('maxloc', left, right, type)).toEqual(arrayOf(type, [5, 3, 6, 0, 9, 2, 4, 4]))
    const ready = readyOperation('minloc', type, 8)
    if (ready.kind === 'kernel') ready.kernel(right, left, right)
    expect(right).toEqual(arrayOf(type, [5, 3, 5, 1, 8, 9, 4, 4]))
  })

  it('NaN wins over every number, the lower index over the other NaN', () => {
    const { NaN: nan } = Number
    const type = typeCode.Float64Array
    const [left, right] = [
      [nan, 8, 1, 2, nan, 9],
      [1, 1, nan, 5, nan, 3],
    ].map((each) => arrayOf(type, each))
    expect([...(apply('minloc', left, right, type) as Float64Array)]).toEqual([nan, 8, nan, 5, nan, 3])
  })
})

describe('operations are checked', () => {
  const float64 = typeCode.Float64Array
  const ready = (op: unknown, countElems = 1) => readyOperation(op as 'sum', float64, countElems)
  it.each([
    ['an unknown name', () => ready('average'), 'ERR_OP', /expected sum, .* got 'average'/],
    ['a function', () => ready(Math.max), 'ERR_OP', /createOperation, got function/],
    ['what looks like one', () => ready({ kind: 'operation' }), 'ERR_OP', /createOperation, got object/],
    ['bits of floats', () => ready('bor'), 'ERR_OP', /bor is not defined on the elements of a Float64Array/],
    ['an odd number of pairs', () => ready('maxloc', 3), 'ERR_COUNT', /pairs, got 3 elements/],
    [
      'values',
      () => readyOperation('sum', typeCode.value, 1, 'a'),
      'ERR_OP',
      /sum works on numbers, bigints and typed arrays, got a string; /,
    ],
    [
      'an array',
      () => readyOperation('sum', typeCode.value, 1, [1]),
      'ERR_OP',
      /an array; pass a Float64Array$/,
    ],
    ['pairs of one number', () => readyNumberOperation('minloc'), 'ERR_OP', /not defined on a number/],
    ['bits of a number', () => readyNumberOperation('band'), 'ERR_OP', /not defined on a number/],
    ['pairs of one bigint', () => readyBigintOperation('maxloc'), 'ERR_OP', /not defined on a bigint/],
    ['no function', () => createOperation('sum' as never), 'ERR_OP', /needs a function/],
  ])('%s', (_, call, code, message) => {
    expect(call).toThrow(coded(code, expect.stringMatching(message)))
  })

  it('user operations have a name and no kernel', () => {
    const op = createOperation(function weave(a: number, b: number) {
      return a + b
    })
    expect(op).toMatchObject({ name: 'weave', commutative: false })
    expect(createOperation((a: number) => a, { name: 'first', commutative: true })).toMatchObject({
      name: 'first',
      commutative: true,
    })
    expect(readyOperation(op, float64, 1)).toMatchObject({ kind: 'function', name: 'weave' })
  })

  it('are the twelve of MPI', () => {
    const names = 'band bor bxor land lor lxor max maxloc min minloc prod sum'
    expect([...operationNames].sort().join(' ')).toBe(names)
  })
})
