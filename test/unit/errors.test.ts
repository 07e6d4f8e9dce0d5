import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { errorCodes, isRankweaveError, RankweaveError, shown, wrongValue } from '../../src/errors.js'

const root = join(import.meta.dirname, '../..')

/** A section of docs/errors.md per code: its heading, so that a code can be linked, and what follows. */
const sections = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  .split(/^#+ /m)
  .filter((section) => section.startsWith('ERR_'))
  .map((section) => {
    const [code, ...lines] = section.split('\n')
    return [code, lines.join('\n')] as const
  })

describe('the class', () => {
  it('has its name before a stack is captured, whatever a bundler calls it', () => {
    const error = new RankweaveError('ERR_RANK', 'a message')
    expect([error.name, RankweaveError.name, error.stack!.split('\n')[0]]).toEqual([
      'RankweaveError',
      'RankweaveError',
      'RankweaveError: a message',
    ])
    expect(inspect(error)).toMatch(/^RankweaveError: a message\n/)
    expect(Object.keys(error)).toEqual(['code', 'details'])
  })
})

describe('error codes', () => {
  it('have one heading each in docs/errors.md, in the order of errorCodes', () => {
    expect(sections.map(([code]) => code)).toEqual(errorCodes)
  })

  it.each(sections)('%s is documented: meaning, cause, remedy', (_code, text) => {
    expect(text).toMatch(/^\n[A-Z`][^\n]*\.(?:\n[A-Z`][^\n]*\.)*\n\n- Cause: .*\.\n- Remedy: .*\.$/m)
  })
})

describe('RankweaveError', () => {
  it('has its code in its text, also once it is rebuilt from a record', () => {
    const error = new RankweaveError('ERR_RANK', 'expected a rank')
    const text = 'RankweaveError [ERR_RANK]: expected a rank'
    expect([String(error), `${error}`]).toEqual([text, text])
    expect(String(RankweaveError.fromRecord(structuredClone(error.toRecord())))).toBe(text)
  })

  it('carries code, message, details and cause', () => {
    const cause = new TypeError('deep')
    const error = new RankweaveError('ERR_RANK', 'expected 0 to 3, got 4', { details: { rank: 4 }, cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'RankweaveError', code: 'ERR_RANK', details: { rank: 4 }, cause })
    expect(error.message).toBe('expected 0 to 3, got 4')
    expect('cause' in new RankweaveError('ERR_TAG', 'none')).toBe(false)
  })

  it('is identified by its code', () => {
    const error = new RankweaveError('ERR_TAG', 'x')
    expect(isRankweaveError(error)).toBe(true)
    expect(isRankweaveError(error, 'ERR_RANK', 'ERR_TAG')).toBe(true)
    expect(isRankweaveError(error, 'ERR_RANK')).toBe(false)
    expect(isRankweaveError(new Error('x'))).toBe(false)
    expect(isRankweaveError({ code: 'ERR_TAG' })).toBe(false)
  })

  it('survives structured clone as a record', () => {
    const inner = new RankweaveError('ERR_FILE', 'no file', { details: { path: 'a.mtx' } })
    const error = new RankweaveError('ERR_WORLD_ENDED', 'over', { details: { rank: 3 }, cause: inner })
    const rebuilt = RankweaveError.fromRecord(structuredClone(error.toRecord()))
    expect(rebuilt).toBeInstanceOf(RankweaveError)
    expect(rebuilt).toMatchObject({ code: 'ERR_WORLD_ENDED', message: 'over', details: { rank: 3 } })
    expect(rebuilt.stack).toBe(error.stack)
    expect(rebuilt.cause).toMatchObject({ code: 'ERR_FILE', details: { path: 'a.mtx' } })
  })

  it.each([
    { cause: new RangeError('deep'), plain: { name: 'RangeError', message: 'deep' } },
    { cause: () => 1, plain: '() => 1' },
    { cause: { a: 1 }, plain: '{ a: 1 }' },
    { cause: 'said', plain: 'said' },
    { cause: 7n, plain: 7n },
  ])('makes any cause cloneable: $plain', ({ cause, plain }) => {
    const record = structuredClone(new RankweaveError('ERR_OP', 'x', { cause }).toRecord())
    const { cause: back } = RankweaveError.fromRecord(record)
    if (back instanceof Error) expect(back).toMatchObject(plain as object)
    else expect(back).toBe(plain)
  })
})

describe('values in messages', () => {
  it.each([
    [3, '3'],
    ['x', "'x'"],
    [new Error('why'), 'why'],
    [Float64Array.of(0), 'a Float64Array'],
    [Int32Array.of(0), 'an Int32Array'],
    [[0], '[0]'],
    [[], '[]'],
    [[1, 2], '1,2'],
    ['y'.repeat(200), `'${'y'.repeat(200)}'`],
    ['y'.repeat(3000), `'${'y'.repeat(200)}... (3000 characters)'`],
    [new Array(200).fill(7), `${'7,'.repeat(100)}... (399 characters)`],
    [new Array(1000).fill(7), 'an array of 1000'],
    [[[1, 2], [3]], 'an array of 2'],
    [[{ a: 1 }], 'an array of 1'],
    [[null, undefined], ','],
    [null, 'null'],
    [{ processes: 2, fabric: 'threads', nested: {} }, "{ processes: 2, fabric: 'threads', nested: ... }"],
    [Object.create(null), 'a value of type object that has no text'],
    ['a\nverified', "'a\\x0averified'"],
  ])('%o', (value, text) => expect(shown(value)).toBe(text))
})

it('a message does not visit the elements of a long array', () =>
  expect(shown(new Array(2 ** 32 - 1))).toBe('an array of 4294967295'))

it('a message does not read what an array in an array holds', () => {
  const inner = Object.assign([1], { toString: () => expect.unreachable() })
  inner.join = () => expect.unreachable()
  expect(shown([inner])).toBe('an array of 1')
  expect(shown([2, inner])).toBe('an array of 2')
})

it('wrongValue says what was expected and shows what arrived', () => {
  const error = wrongValue('ERR_RANK', 'send: expected a rank from 0 to 7', '8', { rank: 8 })
  expect(error).toBeInstanceOf(RankweaveError)
  expect(error.toRecord()).toMatchObject({
    code: 'ERR_RANK',
    message: "send: expected a rank from 0 to 7, got '8'",
    details: { rank: 8 },
  })
  expect(wrongValue('ERR_COUNT', 'expected a count', -1).message).toBe('expected a count, got -1')
  expect(wrongValue('ERR_COUNT', 'expected a count', -1).details).toEqual({})
})
