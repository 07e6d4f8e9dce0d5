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

interface Case {
  readonly option: Option<unknown>
  readonly expected: string
  readonly taken: readonly unknown[]
  readonly refused: readonly unknown[]
}

const bounded = integerOption({ least: 2, most: 8 })
const within = numberOption({ least: 1, most: 2.5 })
const words = wordOption(['lowest', 'highest'])
const three = wordOption(['a', 'b', 'c'])
const lists = integerListsOption({ least: 1 })
const never = [undefined, null, Number.NaN, {}, () => 1] as const

const cases: Readonly<Record<string, Case>> = {
  'an integer between two bounds': {
    option: bounded,
    expected: 'an integer from 2 to 8',
    taken: [2, 5, 8],
    refused: [1, 9, 2.5, '2', true, Number.POSITIVE_INFINITY, ...never],
  },
  'an integer without an upper bound': {
    option: integerOption({ least: 0 }),
    expected: 'an integer >= 0',
    taken: [0, Number.MAX_SAFE_INTEGER],
    refused: [-1, 2 ** 53, ...never],
  },
  'an integer of any size': {
    option: integerOption({ least: 2, most: Number.MAX_VALUE }),
    expected: 'an integer >= 2',
    taken: [2, 2 ** 53, Number.MAX_VALUE],
    refused: [1, Number.POSITIVE_INFINITY, ...never],
  },
  'an integer of either sign': {
    option: integerOption({ least: Number.MIN_SAFE_INTEGER }),
    expected: 'an integer',
    taken: [Number.MIN_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER],
    refused: [-(2 ** 53), ...never],
  },
  'bytes between two bounds': {
    option: bytesOption({ least: 1, most: 2 ** 20 }),
    expected: 'an integer from 1 to 1048576',
    taken: [1, 1000, 2 ** 20],
    refused: [0, 2 ** 20 + 1, 1.5, '1KiB', ...never],
  },
  'a number': {
    option: within,
    expected: 'a number from 1 to 2.5',
    taken: [1, 1.5, 2.5],
    refused: [0.99, 2.51, '1', Number.POSITIVE_INFINITY, ...never],
  },
  seconds: {
    option: numberOption({ least: 0.1, most: 60, unit: 'seconds' }),
    expected: 'seconds from 0.1 to 60',
    taken: [0.1, 60],
    refused: [0.09, 61, ...never],
  },
  'a number without bounds': {
    option: numberOption({}),
    expected: 'a number',
    taken: [-1e300, 0, 1e300],
    refused: [Number.NEGATIVE_INFINITY, ...never],
  },
  'a positive number': {
    option: positiveOption,
    expected: 'a positive number',
    taken: [Number.MIN_VALUE, 1],
    refused: [0, -1, Number.POSITIVE_INFINITY, ...never],
  },
  'one of two words': {
    option: words,
    expected: 'lowest or highest',
    taken: ['lowest', 'highest'],
    refused: ['low', '', 'toString', ...never],
  },
  'one of three words': {
    option: three,
    expected: 'one of a, b, c',
    taken: ['a', 'c'],
    refused: ['d', ...never],
  },
  'a flag': {
    option: flagOption(),
    expected: 'true or false',
    taken: [true, false],
    refused: ['true', 1, ...never],
  },
  'a text': { option: textOption(), expected: 'a text', taken: ['', 'x'], refused: [1, ...never] },
  'a list of integers': {
    option: integersOption({ least: 2 }),
    expected: 'integers >= 2',
    taken: [[], [2], [3, 2]],
    refused: [[1], [2.5], ['2'], '2', ...never],
  },
  'lists of integers': {
    option: lists,
    expected: 'per dimension integers >= 1',
    taken: [[], [[]], [[1], [2, 3]]],
    refused: [[1], [[0]], ...never],
  },
  'a function': {
    option: functionOption,
    expected: 'a function',
    taken: [() => 1],
    refused: [{}, null, 'f'],
  },
  'a URL': {
    option: urlOption,
    expected: 'a URL',
    taken: [new URL('http://a')],
    refused: ['http://a', null],
  },
  'a signal': {
    option: signalOption,
    expected: 'an AbortSignal',
    taken: [AbortSignal.abort()],
    refused: [{ aborted: true }, null],
  },
  'a value by a test': {
    option: valueOption('an even number', (value) => typeof value === 'number' && value % 2 === 0),
    expected: 'an even number',
    taken: [2],
    refused: [3],
  },
  'any value': { option: uncheckedOption, expected: 'any value', taken: [...never], refused: [] },
}

describe('an option', () => {
  it.each(Object.entries(cases))(
    '%s takes its values and no others',
    (_, { option, expected, taken, refused }) => {
      expect(option.expected).toBe(expected)
      expect(taken.filter((value) => !option.is(value))).toEqual([])
      expect(refused.filter((value) => option.is(value))).toEqual([])
    },
  )

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
