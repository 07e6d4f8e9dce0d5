import Fastify from 'fastify'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readJsonBodies } from '../../../../src/service/http/app.js'
import { errorAnswer } from '../../../../src/service/http/error-answer.js'

function answering(bodyLimit: number) {
  const app = Fastify({ bodyLimit })
  readJsonBodies(app)
  app.setErrorHandler((error, _request, reply) => {
    const { status, answer } = errorAnswer(error)
    return reply.code(status).send(answer)
  })
  app.post('/', ({ body }) => ({ body }))
  return async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: '/', headers, payload })
    return { status: answer.statusCode, answer: answer.json<unknown>() }
  }
}

const refused = (status: number, code: string, message: unknown = expect.any(String)) => ({
  status,
  answer: { error: { code, message } },
})
const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`

const listed = (values: number) => `["\\",,,",${new Array(values - 1).fill('1').join()}]`

it.each([
  ['nests too deep', 'nesting of at most 4', [nested(5), nested(32_000), '['.repeat(60_000)], nested(4)],
  [
    'has too many values',
    'at most 64 commas between values',
    [listed(66), listed(30_000), ','.repeat(65)],
    listed(65),
  ],
])('a body that %s is refused before it is parsed', async (_what, expected, bodies, fits) => {
  const post = answering(2 ** 16)
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  const parsed = () => parse.mock.calls.map(([text]) => text)
  for (const body of bodies) {
    expect(await post(body)).toEqual(refused(400, 'ERR_ARGUMENT', `request: expected ${expected}`))
    expect(parsed()).not.toContain(body)
  }
  expect((await post(fits)).status).toBe(200)
  expect(parsed()).toContain(fits)
})

it('a body that is too long, names a prototype or is not JSON is refused', async () => {
  const post = answering(100)
  expect(await post('{"a":"[[[[[[["}')).toEqual({ status: 200, answer: { body: { a: '[[[[[[[' } } })
  expect(await post(`"${'x'.repeat(100)}"`)).toEqual(refused(413, 'ERR_MESSAGE_TOO_LARGE'))
  expect(await post('{')).toEqual(refused(400, 'ERR_ARGUMENT', "request: expected a body of JSON, got '{'"))
  expect(await post('')).toEqual(refused(400, 'ERR_ARGUMENT', 'request: expected a body of JSON, got none'))
  for (const body of ['{"__proto__":{}}', '{"constructor":{"prototype":{}}}'])
    expect(await post(body), body).toEqual(refused(400, 'ERR_ARGUMENT'))
})
