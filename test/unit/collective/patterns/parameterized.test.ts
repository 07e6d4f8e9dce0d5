import { type Algorithm, algorithms, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { integerOption } from '../../../../src/base/option.js'
import {
  type AlgorithmFamily,
  atDefaults,
  type ParameterTable,
  parameterized,
} from '../../../../src/collective/patterns/parameterized.js'

const parameters = {
  first: integerOption({ least: 0, most: 9, default: 1, help: 'the first' }),
  second: integerOption({ least: 2, most: 8, default: 4, help: 'the second' }),
}

/** An allreduce that answers with the values of its parameters. */
function family(more: Partial<AlgorithmFamily<typeof parameters>> = {}): Algorithm {
  return parameterized({
    id: 'allreduce-numbers',
    collective: 'allreduce',
    parameters,
    emit: () => {},
    ...more,
  })
}

const refusal = (message: string) =>
  expect.objectContaining({ code: 'ERR_ARGUMENT', message: expect.stringContaining(message) })

describe('an algorithm with parameters', () => {
  it('has the id of its family at the defaults, and is bound to them however they are given', () => {
    const initial = family()
    expect(initial.id).toBe('allreduce-numbers')
    expect(initial.values).toEqual({ first: 1, second: 4 })
    expect(initial.with!({})).toBe(initial)
    expect(initial.with!({ second: 4, first: 1 })).toBe(initial)
  })

  it('is named by the parameters that differ, in the order of the table', () => {
    const bound = family().with!({ second: 8, first: 0 })
    expect(bound.id).toBe('allreduce-numbers:first=0,second=8')
    expect(Object.entries(bound.values!)).toEqual([
      ['first', 0],
      ['second', 8],
    ])
    expect(family().with!({ second: 8, first: 1 }).id).toBe('allreduce-numbers:second=8')
  })

  it('is the same for equal values, and takes defaults for what is left out, not the values before', () => {
    const initial = family()
    const bound = initial.with!({ first: 3 })
    expect(initial.with!({ first: 3, second: 4 })).toBe(bound)
    expect(bound.with!({ second: 5 }).id).toBe('allreduce-numbers:second=5')
    expect(bound.with!({})).toBe(initial)
    expect(atDefaults(bound)).toBe(initial)
    expect(atDefaults(initial)).toBe(initial)
  })

  it('stays the same at its defaults when many others have been bound', () => {
    const initial = family()
    for (let first = 0; first < 10; first++)
      for (let second = 2; second <= 8; second++) initial.with!({ first, second })
    expect(initial.with!({ first: 1 })).toBe(initial)
    expect(initial.with!({ first: 2 }).id).toBe('allreduce-numbers:first=2')
  })

  it('gives every function of the family the values', () => {
    const seen: unknown[] = []
    const bound = family({
      parts: ({ ranks }, { first }) => ranks * first,
      refuses: (_, { second }) => (second === 5 ? 'five' : null),
      order: (_, { first }) => (first === 3 ? 'ranks' : 'any'),
      emit: (_shape, rank, _operations, _specification, values) => seen.push([rank, values]),
    }).with!({ first: 3, second: 5 })
    expect(bound.parts!({ ranks: 7 })).toBe(21)
    expect(bound.refuses!({ ranks: 7 })).toBe('five')
    expect(bound.order!({ ranks: 7 })).toBe('ranks')
    const served = bound.with!({ first: 3 })
    const { parameters: written, strategy } = scheduleOf(served, { ranks: 2, segments: 2 })
    expect(seen).toEqual([0, 1].map((rank) => [rank, { first: 3, second: 4 }]))
    expect(strategy).toBe('allreduce-numbers:first=3')
    expect(written).toEqual({ root: 0, segments: 2, first: 3, second: 4 })
  })

  it('has no functions that its family does not have', () => {
    const { parts, refuses, order, isAlongPath } = family()
    expect([parts, refuses, order, isAlongPath]).toEqual([undefined, undefined, undefined, undefined])
    expect(family({ isAlongPath: true }).with!({ first: 2 }).isAlongPath).toBe(true)
  })

  it.each<[Record<string, unknown>, string]>([
    [{ third: 1 }, "expected options among first, second, got 'third'"],
    [{ first: 10 }, 'expected first, an integer from 0 to 9, got 10'],
    [{ first: -1 }, 'an integer from 0 to 9, got -1'],
    [{ second: 2.5 }, 'an integer from 2 to 8, got 2.5'],
    [{ second: '3' }, "an integer from 2 to 8, got '3'"],
  ])('refuses %j', (values, message) => {
    expect(() => family().with!(values as Record<string, number>)).toThrowError(refusal(message))
  })
})

describe.each(
  algorithms.flatMap((algorithm) =>
    algorithm.parameters === undefined ? [] : ([[algorithm.id, algorithm]] as const),
  ),
)('%s', (_, algorithm) => {
  const table = algorithm.parameters as ParameterTable

  it('documents every parameter, with bounds', () => {
    for (const { help, least, most, default: initial, kind, is } of Object.values(table)) {
      expect(help).toMatch(/^\S.*[^.]$/)
      expect(is(initial)).toBe(true)
      if (kind === 'text') continue
      expect([Number.isInteger(least), Number.isInteger(most)]).toEqual([true, true])
      expect(initial).toBeGreaterThanOrEqual(least!)
      expect(initial).toBeLessThanOrEqual(most!)
    }
  })

  it('has no parameter by the name of what a shape or a text says', () => {
    for (const [name, { word = name }] of Object.entries(table)) {
      expect(['ranks', 'root', 'segments', 'segment', 'firstRank']).not.toContain(word)
      expect(word).toMatch(/^[a-z]+$/)
    }
  })
})
