import { expect } from 'vitest'
import { RankweaveError } from '../../../src/errors.js'

/** The RankweaveError that a call throws; anything else fails the test. */
export function thrown(call: () => unknown): RankweaveError {
  let result: unknown
  try {
    result = call()
  } catch (error) {
    if (error instanceof RankweaveError) return error
    throw error
  }
  throw new Error(`expected a RankweaveError, got ${JSON.stringify(result)}`)
}

/**
 * That a reader refuses a text of the file `f` with this code.
 *
 * @param at where, and words of what was expected: `2:5 a number` is in line 2, column 5
 */
export function expectRefusal(call: () => unknown, code: string, at: string): void {
  const [, line, column, words] = /^(\d+):(\d+) (.*)$/s.exec(at)!
  const error = thrown(call)
  expect(error.code).toBe(code)
  expect(error.message.startsWith(`f:${line}:${column}: expected `)).toBe(true)
  expect(error.message).toContain(words)
  expect(error.details).toEqual({ file: 'f', line: Number(line), column: Number(column) })
}
