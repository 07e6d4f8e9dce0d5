import { deepStrictEqual } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeValue } from '../../src/messages/datatype/value-reader.js'
import { encodeValue } from '../../src/messages/datatype/value-writer.js'
import { cases } from '../support/soak.js'
import { thrownCode } from '../unit/messages/p2p/point-to-point-world.js'

/** Node compares no two dates that are invalid as equal: those have a test of their own. */
const isComparable = (value: unknown) => isDeepStrictEqual(structuredClone(value), structuredClone(value))

const anything = fc
  .anything({
    ...{ withBigInt: true, withBoxedValues: true, withDate: true, withMap: true, withSet: true },
    ...{ withTypedArray: true, withSparseArray: true, withUnicodeString: true, withNullPrototype: false },
  })
  .filter(isComparable)

it('an invalid date arrives as one', () => {
  expect(Number.isNaN((decodeValue(encodeValue(new Date(Number.NaN))) as Date).getTime())).toBe(true)
})

it('values of random shapes arrive as the structured clone algorithm copies them', () => {
  fc.assert(
    fc.property(anything, (value) => {
      deepStrictEqual(decodeValue(encodeValue(value)), structuredClone(value))
    }),
    { numRuns: cases(5_000, 300) },
  )
})

const holed: unknown[] = Object.assign(new Array(4), { 0: 1, 2: undefined })

const sample = encodeValue({
  ...{
    list: [1, 0.5, 'text', '\ud800', 7n, 2n ** 70n, null, undefined, holed],
    map: new Map([['k', new Set([1])]]),
  },
  ...{
    error: new TypeError('x'),
    view: new Float64Array(3),
    date: new Date(1),
    regexp: /a/g,
    boxed: Object(1),
  },
})

it('bytes that are no value neither crash nor allocate more than they could describe, whatever they are', () => {
  const before = process.memoryUsage().arrayBuffers
  const outcomes = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.uint8Array({ maxLength: 40 }),
      (changes, random) => {
        const mutated = sample.slice()
        for (const [at, byte] of changes) mutated[at] = byte
        outcomes.add(thrownCode(() => decodeValue(mutated)))
        outcomes.add(thrownCode(() => decodeValue(random)))
      },
    ),
    { numRuns: cases(5_000, 500) },
  )
  expect([...outcomes].sort()).toEqual(['ERR_CLONE', 'none'])
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20)
})
