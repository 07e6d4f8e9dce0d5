import { algorithmOf, algorithms, type Collective } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { formatAlgorithm, parseAlgorithm, segmentsOf } from '../../../src/collective/algorithm-text.js'
import { variants } from '../../support/algorithm-checks.js'

const refusal = (message: string) =>
  expect.objectContaining({ code: 'ERR_ARGUMENT', message: expect.stringContaining(message) })

describe('the line of text of an algorithm', () => {
  it.each(
    variants.flatMap(({ id }) => {
      const joined = id.includes(':') ? ',' : ':'
      return [id, `${id}${joined}segments=8`, `${id}${joined}segment=1KiB`, `${id}${joined}segment=1000`]
    }),
  )('%s is canonical: written as it was read', (text) => {
    expect(formatAlgorithm(parseAlgorithm(text))).toBe(text)
  })

  it.each([
    ['bcast-chain:fanout=1', 'bcast-chain'],
    ['bcast-chain:segment=1024,fanout=4', 'bcast-chain:fanout=4,segment=1KiB'],
    ['bcast-chain:segment=1048576', 'bcast-chain:segment=1MiB'],
    ['bcast-chain:segment=1500KiB,fanout=04', 'bcast-chain:fanout=4,segment=1500KiB'],
    ['bcast-knomial:segments=2,radix=4', 'bcast-knomial:segments=2'],
    ['allreduce-ring:segments=1', 'allreduce-ring:segments=1'],
  ])('%s is equal to %s', (text, canonical) => {
    expect(formatAlgorithm(parseAlgorithm(text))).toBe(canonical)
    const { algorithm } = parseAlgorithm(text)
    expect(parseAlgorithm(canonical).algorithm).toBe(algorithm)
  })

  it('gives the algorithm, and how units are cut', () => {
    const algorithm = algorithmOf('bcast-chain').with!({ fanout: 4 })
    expect(parseAlgorithm('bcast-chain:fanout=4')).toEqual({ algorithm })
    expect(parseAlgorithm('bcast-chain:segments=3,fanout=4')).toEqual({ algorithm, segments: 3 })
    expect(parseAlgorithm('bcast-chain:fanout=4,segment=8MiB')).toEqual({ algorithm, segmentBytes: 2 ** 23 })
    expect(parseAlgorithm('bcast-chain', 'bcast')).toEqual({ algorithm: algorithmOf('bcast-chain') })
  })

  it.each<[string, string]>([
    ['bcast-chain:radix=3', "expected fanout, segments or segment, got 'radix'"],
    ['bcast-chain:fanout=2,fanout=3', "expected fanout once, got 'fanout=3'"],
    ['bcast-chain:fanout=0', "expected fanout, an integer from 1 to 64, got '0'"],
    ['bcast-chain:fanout=65', 'an integer from 1 to 64'],
    ['bcast-chain:fanout=1.5', 'an integer from 1 to 64'],
    ['bcast-chain:fanout=', "an integer from 1 to 64, got ''"],
    ['bcast-chain:fanout', 'an integer from 1 to 64'],
    ['bcast-chain:fanout=2=3', "got '2=3'"],
    ['bcast-chain: fanout=2', "got ' fanout'"],
    ['bcast-chain:fanout=2,', "expected fanout, segments or segment, got ''"],
    ['bcast-chain:', "expected fanout, segments or segment, got ''"],
    ['bcast-chain::', "got ':'"],
    ['bcast-chain:segments=2,segment=1KiB', 'expected segments or segment, not both, got '],
    ['bcast-chain:segments=4097', 'expected segments, an integer from 1 to 4096'],
    ['bcast-chain:segments=0', 'an integer from 1 to 4096'],
    ['bcast-chain:segment=0', 'expected segment, an integer >= 1 in bytes, or with KiB, MiB or GiB'],
    ['bcast-chain:segment=1kB', 'in bytes, or with KiB, MiB or GiB'],
    ['bcast-chain:segment=-1', 'in bytes'],
    ['bcast-chain:segmentBytes=1024', "got 'segmentBytes'"],
    ['bcast-linear:fanout=2', "expected segments or segment, got 'fanout'"],
    ['bcast-linear:', "expected segments or segment, got ''"],
    ['bcast-ternary:radix=3', "got 'bcast-ternary:radix=3'"],
    ['', 'expected an algorithm among barrier-linear, '],
    [':fanout=2', 'expected an algorithm among'],
  ])('%j is refused', (text, message) => {
    expect(() => parseAlgorithm(text)).toThrowError(refusal(message))
    expect(() => parseAlgorithm(text)).toThrowError(refusal(message))
  })

  it.each([undefined, null, 3, {}, ['bcast-chain']])('%j, which is no text, is refused', (value) => {
    expect(() => parseAlgorithm(value as unknown as string)).toThrowError(refusal('expected an algorithm'))
  })

  it('of another collective is refused, also when it was read before', () => {
    expect(parseAlgorithm('bcast-chain:fanout=7').algorithm.collective).toBe('bcast')
    expect(() => parseAlgorithm('bcast-chain:fanout=7', 'reduce')).toThrowError(
      refusal('expected an algorithm of reduce among reduce-linear'),
    )
    expect(parseAlgorithm('bcast-chain:fanout=7', 'bcast').algorithm.id).toBe('bcast-chain:fanout=7')
  })

  it('is not read again while few are used, and forgets when there are many', () => {
    const first = parseAlgorithm('bcast-chain:segments=9')
    expect(parseAlgorithm('bcast-chain:segments=9')).toBe(first)
    for (let segments = 1; segments <= 100; segments++) parseAlgorithm(`bcast-binary:segments=${segments}`)
    expect(parseAlgorithm('bcast-chain:segments=9')).not.toBe(first)
    expect(parseAlgorithm('bcast-chain:segments=9')).toEqual(first)
  })
})

describe('algorithmOf', () => {
  it('takes parameters', () => {
    const algorithm = algorithmOf('bcast-knomial:radix=3', 'bcast')
    expect(algorithm.id).toBe('bcast-knomial:radix=3')
    expect(algorithmOf('bcast-knomial:radix=4')).toBe(algorithmOf('bcast-knomial'))
  })

  it.each([
    ['bcast-knomial:segments=4', "expected radix, got 'segments'"],
    ['bcast-knomial:radix=1', 'expected radix, an integer from 2 to 64'],
    ['bcast-linear:radix=2', "expected bcast-linear without settings: it has no parameters, got 'radix=2'"],
    ['bcast-linear:', 'expected bcast-linear without settings'],
  ])('refuses %s', (text, message) => {
    expect(() => algorithmOf(text)).toThrowError(refusal(message))
  })
})

describe('segments of a unit', () => {
  const segments = (text: string, unitBytes: number, ranks: number) =>
    segmentsOf(parseAlgorithm(text), unitBytes, ranks)

  it('are as many as the text says, or not said', () => {
    expect(segments('bcast-chain:segments=7', 1e6, 4)).toBe(7)
    expect(segments('bcast-chain', 1e6, 4)).toBeUndefined()
  })

  it.each<[number, number]>([
    [0, 1],
    [1, 1],
    [1024, 1],
    [1025, 2],
    [10 * 1024, 10],
    [2 ** 22, 4096],
    [2 ** 40, 4096],
  ])('of 1 KiB, of %i bytes, are %i', (unitBytes, expected) => {
    expect(segments('bcast-chain:segment=1KiB', unitBytes, 4)).toBe(expected)
  })

  it('are of the parts into which the algorithm cuts a unit anyway', () => {
    const unitBytes = 64 * 1024
    expect(segments('bcast-binary:segment=1KiB', unitBytes, 8)).toBe(64)
    expect(segments('bcast-split-binary:segment=1KiB', unitBytes, 8)).toBe(32)
    expect(segments('allreduce-ring-segmented:segment=1KiB', unitBytes, 8)).toBe(8)
    expect(segments('allgather-ring:segment=1KiB', unitBytes, 8)).toBe(64)
  })

  it.each([
    [0, 6],
    [1024 * 6, 6],
    [1024 * 6 + 1, 12],
    [2 ** 40, 4092],
  ])('of %i bytes are a multiple of the sections of an algorithm', (unitBytes, expected) => {
    expect(segments('allgather-bucket:ports=6,segment=1KiB', unitBytes, 8)).toBe(expected)
  })

  it('never let a part of an algorithm exceed the bytes, unless 4,096 segments do not suffice', () => {
    for (const algorithm of algorithms) {
      const shapes = [2, 4, 8].filter((ranks) => (algorithm.refuses?.({ ranks }) ?? null) === null)
      for (const ranks of shapes) {
        const count = segmentsOf({ algorithm, segmentBytes: 100 }, 12_345, ranks)!
        const parts = algorithm.parts?.({ ranks, segments: count }) ?? count
        expect([algorithm.id, Math.ceil(12_345 / parts) <= 100]).toEqual([algorithm.id, true])
      }
    }
  })
})

it('no id of an algorithm is taken for a collective, and each begins with the name of its own', () => {
  for (const { id, collective } of algorithms) {
    expect(id).toMatch(/^[a-z]+(-[a-z]+)+$/)
    expect(id.startsWith(`${collective}-`)).toBe(true)
    expect(() => parseAlgorithm(collective satisfies Collective)).toThrowError(
      refusal('expected an algorithm'),
    )
  }
})
