import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  functionOption,
  integerOption,
  integersOption,
  type OptionTable,
  objectOption,
  uncheckedOption,
  wordOption,
} from '../../../src/base/option.js'
import {
  checkOptions,
  checkValues,
  optionAgreement,
  optionHelp,
  optionsText,
  parsedOptions,
  requireOption,
  withDefaults,
  writtenOptions,
} from '../../../src/base/option-table.js'
import { refusal } from '../../support/refusal.js'

interface Inner {
  readonly depth?: number
}

interface Options {
  readonly ranks: number
  readonly order?: 'tree' | 'any'
  readonly radices?: readonly number[]
  readonly cacheRows?: number
  readonly inner?: Inner
  readonly onDone?: () => void
}

const table = {
  ranks: integerOption({
    ...{ least: 1, most: 8, default: 2 },
    required: true,
    agreed: 'ranks',
    code: 'ERR_WORLD',
  }),
  order: wordOption(['tree', 'any'], { default: 'tree', agreed: 'ranks', help: 'how it combines' }),
  radices: integersOption({ least: 2, word: 'r', help: 'of the digits', computed: '2 as often as needed' }),
  cacheRows: integerOption({ least: 0, default: 16, agreed: 'process' }),
  inner: objectOption<Inner>({ depth: integerOption({ least: 0 }) }),
  onDone: functionOption,
} satisfies OptionTable<Options>

// A table without an entry for every option, or with a wrong one, is an error of types.
// @ts-expect-error onDone is missing
const _missing: OptionTable<Pick<Options, 'ranks' | 'onDone'>> = { ranks: table.ranks }
// @ts-expect-error another type
const _other: OptionTable<Pick<Options, 'order'>> = { order: integerOption({ least: 1 }) }

describe('checkOptions', () => {
  it.each([
    [{ ranks: 1 }],
    [{ ranks: 8, order: undefined, radices: [2, 3], cacheRows: 0, inner: {}, onDone: () => {} }],
  ])('accepts %j', (given) => {
    expect(() => checkOptions('call', table, given)).not.toThrow()
  })

  it.each([
    [{}, 'ERR_WORLD', 'call: expected ranks, an integer from 1 to 8, got undefined'],
    [{ ranks: 0 }, 'ERR_WORLD', 'call: expected ranks, an integer from 1 to 8, got 0'],
    [{ ranks: 9 }, 'ERR_WORLD', 'call: expected ranks, an integer from 1 to 8, got 9'],
    [{ ranks: 1, order: 'none' }, 'ERR_ARGUMENT', "call: expected order, tree or any, got 'none'"],
    [{ ranks: 1, radices: [1] }, 'ERR_ARGUMENT', 'call: expected radices, integers >= 2, got [1]'],
    [{ ranks: 1, cacheRows: null }, 'ERR_ARGUMENT', 'call: expected cacheRows, an integer >= 0, got null'],
    [{ ranks: 1, inner: 3 }, 'ERR_ARGUMENT', 'call: expected inner, an object of options, got 3'],
    [
      { ranks: 1, inner: { depth: -1 } },
      'ERR_ARGUMENT',
      'call: inner: expected depth, an integer >= 0, got -1',
    ],
    [
      { ranks: 1, inner: { depths: 1 } },
      'ERR_ARGUMENT',
      "call: inner: expected options among depth, got 'depths' (did you mean 'depth'?)",
    ],
    [
      { ranks: 1, orders: 'any' },
      'ERR_ARGUMENT',
      "call: expected options among ranks, order, radices, cacheRows, inner, onDone, got 'orders' (did you mean 'order'?)",
    ],
    [undefined, 'ERR_ARGUMENT', 'call: expected an object of options, got undefined'],
    [[1], 'ERR_ARGUMENT', 'call: expected an object of options, got [1]'],
  ])('refuses %j', (given, code, message) => {
    expect(() => checkOptions('call', table, given)).toThrow(expect.objectContaining({ code, message }))
  })

  it('refuses with the code of the call, except where an option has one', () => {
    const thrown = (given: unknown) => () => checkOptions('call', table, given, 'ERR_STRATEGY')
    for (const given of [3, { ranks: 1, rank: 1 }, { ranks: 1, order: 'none' }])
      expect(thrown(given)).toThrow(refusal('ERR_STRATEGY'))
    expect(thrown({ ranks: 0 })).toThrow(refusal('ERR_WORLD'))
  })

  it('takes no options from an empty table', () => {
    expect(() => checkOptions('call', {}, {})).not.toThrow()
    expect(() => checkOptions('call', {}, { k: 1 })).toThrow("expected options among none, got 'k'")
  })
})

it('checkValues leaves other members alone', () => {
  expect(() => checkValues('call', table, { ranks: 1, kind: 'x' })).not.toThrow()
  expect(() => checkValues('call', table, { ranks: 0, kind: 'x' })).toThrow('expected ranks')
})

it('requireOption lets an absent option pass unless it is required', () => {
  expect(() => requireOption('call', 'order', table.order, undefined)).not.toThrow()
  expect(() => requireOption('call', 'ranks', table.ranks, undefined)).toThrow('expected ranks')
  expect(() => requireOption('call', 'x', uncheckedOption, null)).not.toThrow()
})

describe('withDefaults', () => {
  it('adds the defaults of options that are not given', () => {
    const given = { ranks: 1, order: undefined as 'any' | undefined }
    expect(withDefaults(table, given)).toEqual({ ranks: 1, order: 'tree', cacheRows: 16 })
    expect(withDefaults(table, { ranks: 1, order: 'any' as const, cacheRows: 0 })).toMatchObject({
      order: 'any',
      cacheRows: 0,
    })
  })

  it('has types without undefined for options with a default', () => {
    const options: Options = { ranks: 1 }
    const all = withDefaults(table, options)
    expectTypeOf(all.order).toEqualTypeOf<'tree' | 'any'>()
    expectTypeOf(all.cacheRows).toEqualTypeOf<number>()
    expectTypeOf(all.radices).toEqualTypeOf<readonly number[] | undefined>()
  })
})

describe('agreement', () => {
  const { sameAs, words } = optionAgreement(table)

  it('is on numbers: values, places of words, and -1 for what is not given', () => {
    expect(words({ ranks: 4, order: 'any', cacheRows: 1 })).toEqual([4, 1])
    expect(words({ order: 'tree' })).toEqual([-1, 0])
  })

  it('has nothing to compare where no option that is agreed on is given', () => {
    expect(words(undefined)).toBeUndefined()
    expect(words({ cacheRows: 1 })).toBeUndefined()
  })

  it('of one process is on more options than that of all ranks, and never on others', () => {
    const given = { ranks: 4, cacheRows: 1 }
    const isSame = sameAs(given)
    expect(isSame({ onDone: () => {}, cacheRows: 1, ranks: 4, order: undefined })).toBe(true)
    for (const other of [
      { ...given, cacheRows: 2 },
      { ...given, order: 'tree' },
      { ranks: 4 },
      {},
      undefined,
    ])
      expect(isSame(other), JSON.stringify(other)).toBe(false)
  })

  it('without options is with others without them', () => {
    const isSame = sameAs(undefined)
    expect([undefined, {}, { onDone: () => {} }].map(isSame)).toEqual([true, true, true])
    expect([{ ranks: 1 }, null, 3].map((other) => isSame(other as object))).toEqual([false, false, false])
  })

  it('does not change with the object that the first rank passes', () => {
    const given = { ranks: 4 }
    const isSame = sameAs(given)
    given.ranks = 5
    expect([isSame({ ranks: 4 }), isSame(given)]).toEqual([true, false])
  })
})

describe('texts', () => {
  const refuse = (expected: string, got: string): never => {
    throw new Error(`expected ${expected}, got ${got}`)
  }

  it('have the options that are given, in the order of the table', () => {
    expect(optionsText(table, { radices: [4, 3], ranks: 4 })).toBe('ranks=4,r=4.3')
    expect(optionsText(table, {})).toBe('')
    expect(writtenOptions(table, { radices: [4, 3] })).toEqual([{ word: 'r', value: [4, 3], text: '4.3' }])
  })

  it('are read in any order, with the defaults of required options', () => {
    expect(parsedOptions(table, 'r=4.3,order=any', refuse)).toEqual({
      ranks: 2,
      order: 'any',
      radices: [4, 3],
    })
    expect(parsedOptions(table, undefined, refuse)).toEqual({ ranks: 2 })
  })

  it.each([
    ['', 'expected ranks, order, r or cacheRows, got '],
    ['radices=2', 'expected ranks, order, r or cacheRows, got radices'],
    ['toString=2', 'expected ranks, order, r or cacheRows, got toString'],
    ['r=4.1', 'expected r, integers >= 2 joined by dots, got 4.1'],
    ['r', 'expected r, integers >= 2 joined by dots, got '],
    ['order=no', 'expected order=tree or order=any, got order=no'],
    ['ranks=1=2', 'expected ranks, an integer from 1 to 8, got 1=2'],
    ['ranks=1,ranks=2', 'expected ranks once, got ranks=2'],
  ])("'%s' is refused", (text, message) => {
    expect(() => parsedOptions(table, text, refuse)).toThrow(new Error(message))
  })

  it('of help have meaning, values and default', () => {
    expect(optionHelp('order', table.order)).toBe('order   how it combines: tree, any (default: tree)')
    expect(optionHelp('radices', table.radices)).toBe('r   of the digits (default: 2 as often as needed)')
  })
})
