import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  bytesOption,
  flagOption,
  functionOption,
  integerListsOption,
  integerOption,
  integersOption,
  numberOption,
  type Option,
  positiveOption,
  signalOption,
  textOption,
  uncheckedOption,
  urlOption,
  valueOption,
  wordOption,
} from '../../../src/base/option.js'

const bounded = integerOption({ least: 2, most: 8 })
const within = numberOption({ least: 1, most: 2.5 })
const words = wordOption(['lowest', 'highest'])
const three = wordOption(['a', 'b', 'c'])
const lists = integerListsOption({ least: 1 })
const never = [undefined, null, Number.NaN, {}, () => 1] as const

/** An option, what it expects, values that it takes, and values that it refuses. */
type Case = readonly [Option<unknown>, string, readonly unknown[], readonly unknown[]]
const infinite = Number.POSITIVE_INFINITY
const of = (least: number, most?: number) => integerOption({ least, ...(most === undefined ? {} : { most }) })
const isEven = (value: unknown) => typeof value === 'number' && value % 2 === 0

const cases: readonly Case[] = [
  [bounded, 'an integer from 2 to 8', [2, 5, 8], [1, 9, 2.5, '2', true, infinite, ...never]],
  [of(0), 'an integer >= 0', [0, Number.MAX_SAFE_INTEGER], [-1, 2 ** 53, ...never]],
  [of(2, Number.MAX_VALUE), 'an integer >= 2', [2, 2 ** 53, Number.MAX_VALUE], [1, infinite, ...never]],
  [
    of(Number.MIN_SAFE_INTEGER),
    'an integer',
    [Number.MIN_SAFE_INTEGER, 0, 2 ** 53 - 1],
    [-(2 ** 53), ...never],
  ],
  [
    bytesOption({ least: 1, most: 2 ** 20 }),
    ...([
      'an integer from 1 to 1048576',
      [1, 1000, 2 ** 20],
      [0, 2 ** 20 + 1, 1.5, '1KiB', ...never],
    ] as const),
  ],
  [within, 'a number from 1 to 2.5', [1, 1.5, 2.5], [0.99, 2.51, '1', infinite, ...never]],
  [
    numberOption({ least: 0.1, most: 60, unit: 'seconds' }),
    ...(['seconds from 0.1 to 60', [0.1, 60], [0.09, 61, ...never]] as const),
  ],
  [numberOption({}), 'a number', [-1e300, 0, 1e300], [Number.NEGATIVE_INFINITY, ...never]],
  [positiveOption, 'a positive number', [Number.MIN_VALUE, 1], [0, -1, infinite, ...never]],
  [words, 'lowest or highest', ['lowest', 'highest'], ['low', '', 'toString', ...never]],
  [three, 'one of a, b, c', ['a', 'c'], ['d', ...never]],
  [flagOption(), 'true or false', [true, false], ['true', 1, ...never]],
  [textOption(), 'a text', ['', 'x'], [1, ...never]],
  [integersOption({ least: 2 }), 'integers >= 2', [[], [2], [3, 2]], [[1], [2.5], ['2'], '2', ...never]],
  [lists, 'per dimension integers >= 1', [[], [[]], [[1], [2, 3]]], [[1], [[0]], ...never]],
  [functionOption, 'a function', [() => 1], [{}, null, 'f']],
  [urlOption, 'a URL', [new URL('http://a')], ['http://a', null]],
  [signalOption, 'an AbortSignal', [AbortSignal.abort()], [{ aborted: true }, null]],
  [valueOption('an even number', isEven), 'an even number', [2], [3]],
  [uncheckedOption, 'any value', [...never], []],
]

describe('an option', () => {
  it.each(cases)('%$: takes its values and no others', (option, expected, taken, refused) => {
    expect(option.expected).toBe(expected)
    expect(taken.filter((value) => !option.is(value))).toEqual([])
    expect(refused.filter((value) => option.is(value))).toEqual([])
  })

  it.each([
    [bounded, ['2', '8'], ['1', '9', '', ' 2', '2x', '0x2', '1e1', '-2', '2.0', '9'.repeat(20)]],
    [
      bytesOption({ least: 1, most: 2 ** 32 }),
      ['1', '1000', '1KiB', '1025', '1500KiB', '8MiB', '4GiB'],
      [
        '',
        '0',
        '0KiB',
        'KiB',
        '1.5KiB',
        '1kB',
        '1K',
        '1 KiB',
        '1kib',
        '-1KiB',
        '5GiB',
        '1KiBx',
        '9'.repeat(20),
      ],
    ],
    [within, ['1', '2.5'], ['', '.5', '3', 'x', '1e0']],
    [words, ['lowest'], ['', 'LOWEST', 'toString']],
    [flagOption(), ['true', 'false'], ['', 'yes', '1']],
    [textOption(), ['', 'x=1'], []],
    [integersOption({ least: 2 }), ['2', '4.3.2'], ['', '4.1', '4.', '4,3']],
    [lists, ['1', '3.3/3.3', '1/2'], ['', '3.3/', '0']],
    [functionOption, [], ['f']],
  ] as [Option<unknown>, string[], string[]][])(
    'reads the texts that it writes, and no others',
    (option, texts, others) => {
      expect(texts.map((text) => option.format(option.parse(text)))).toEqual(texts)
      expect(others.map((text) => option.parse(text))).toEqual(others.map(() => undefined))
    },
  )

  it('is written with 1 for a dimension without radices', () => {
    expect(lists.format([[], [2]])).toBe('1/2')
  })

  it('of bytes is written with the largest unit of which it is a multiple', () => {
    const option = bytesOption({ least: 0 })
    const texts = { '0KiB': '0', '1024': '1KiB', '1048576': '1MiB', '2048KiB': '2MiB', '3072MiB': '3GiB' }
    for (const [text, canonical] of Object.entries(texts))
      expect([text, option.format(option.parse(text)!)]).toEqual([text, canonical])
  })

  it('has its facts as they are given', () => {
    const option = integerOption({ least: 1, help: 'how many', default: 3, agreed: 'ranks', word: 'n' })
    expect(option).toMatchObject({ least: 1, help: 'how many', default: 3, agreed: 'ranks', word: 'n' })
    expectTypeOf(option.default).toEqualTypeOf<number>()
  })
})
