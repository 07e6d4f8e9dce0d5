import { expect, it } from 'vitest'
import { z } from 'zod'
import { errorCodes, RankweaveError } from '../../../../src/errors.js'
import { errorAnswer, parsed } from '../../../../src/service/http/error-answer.js'

const statusOf = (error: unknown) => errorAnswer(error).status

it('every code has a status that says whose matter it is', () => {
  const special = {
    ERR_TOKEN: 401,
    ERR_ORIGIN: 403,
    ERR_NOT_FOUND: 404,
    ERR_CANCELLED: 409,
    ERR_LIMIT: 413,
    ERR_MESSAGE_TOO_LARGE: 413,
    ERR_BUSY: 503,
    ERR_STORE: 503,
  }
  const statuses = Object.fromEntries(
    errorCodes.map((code) => [code, statusOf(new RankweaveError(code, 'x'))]),
  )
  expect(statuses).toEqual({ ...Object.fromEntries(errorCodes.map((code) => [code, 400])), ...special })
})

it('of a defect nothing is said, of long messages the beginning', () => {
  const { status, answer } = errorAnswer(new TypeError('secret'))
  expect(status).toBe(500)
  expect(JSON.stringify(answer)).not.toContain('secret')
  expect(errorAnswer(new RankweaveError('ERR_SPEC', 'x'.repeat(9000))).answer.error.message.length).toBe(2000)
  // Of the HTTP library.
  const refused = (statusCode: number) => errorAnswer(Object.assign(new Error('refused'), { statusCode }))
  expect(refused(413).answer.error.code).toBe('ERR_MESSAGE_TOO_LARGE')
  expect(refused(415)).toMatchObject({ status: 415, answer: { error: { code: 'ERR_ARGUMENT' } } })
  expect(refused(503).answer.error.code).toBe('ERR_BUSY')
})

it.each([
  [{ k: 'x' }, "k: expected an integer, got the text 'x'"],
  [{ color: 'x' }, "color: expected an integer or null, got the text 'x'"],
  [{ at: {} }, "field 'at.b' is missing: expected an integer"],
  [{ list: [0, 'x'] }, "list.1: expected an integer, got the text 'x'"],
  [{ k: 1.5 }, 'k: expected an integer, got 1.5'],
  [{ k: 1 }, 'k: expected at least 2, got 1'],
  [{ k: 9 }, 'k: expected at most 8, got 9'],
  [{ mode: 'fast' }, "mode: expected one of aware, agnostic, got 'fast'"],
  [{ name: 'long name' }, "name: expected at most 4 characters, got 'long name'"],
  [{ id: 'x' }, "id: expected the id of a topology, got 'x'"],
  [{ sum: 'x' }, "sum: expected /^[0-9]$/, got 'x'"],
  [{ at: { b: true } }, 'at.b: expected an integer, got true'],
  [{ other: 1 }, "request: expected fields among k, mode, name, id, sum, at, color, list, got 'other'"],
  [{ at: { b: 1, c: 2 } }, "at: expected fields among b, got 'c'"],
  [7, 'request: expected an object, got 7'],
  [[], 'request: expected an object, got []'],
])('%j is refused in the words of other errors', (value, message) => {
  const schema = z.strictObject({
    k: z.int().min(2).max(8).optional(),
    mode: z.enum(['aware', 'agnostic']).optional(),
    name: z.string().max(4).optional(),
    id: z
      .string()
      .regex(/^t-[0-9]$/, 'the id of a topology')
      .optional(),
    sum: z
      .string()
      .regex(/^[0-9]$/)
      .optional(),
    at: z.strictObject({ b: z.int() }).optional(),
    color: z.int().nullable().optional(),
    list: z.array(z.int()).optional(),
  })
  expect(() => parsed(schema, value)).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT', message }))
  expect(parsed(schema, { k: 2, at: { b: 1 } })).toEqual({ k: 2, at: { b: 1 } })
})
