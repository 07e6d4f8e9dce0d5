import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { errorAnswerSchema, jobInfo, planInfo, uploadAnswer } from '../../../../src/client/protocol/http.js'
import { openedWorld } from '../../../../src/client/protocol/worlds.js'
import { type ErrorCode, errorCodes, RankweaveError } from '../../../../src/errors.js'
import type { Tasks } from '../../../../src/service/jobs/task.js'
import { httpRequests } from '../../../support/http-requests.js'
import { serviceApp } from '../../../support/service-app.js'
import { demanded } from '../../../support/soak.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('http-fuzz')
const hexOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** In place of threads: answers at once, of a topology by the bytes of its upload; empty ones are refused. */
async function answer(kind: string, input: unknown): Promise<never> {
  const write = (into: string, text: string) => {
    writeFileSync(into, text)
    return { bytes: text.length, sha256: hexOf(text) }
  }
  if (kind === 'topology') {
    const text = readFileSync((input as Tasks['topology']['input']).upload.path, 'utf8')
    if (text === '') throw new RankweaveError('ERR_SPEC', 'expected a topology')
    const body = { bytes: Buffer.byteLength(text), sha256: hexOf(text) }
    const facts = { selfLoops: 0, parallelEdges: 0, idleRanks: 0, remark: null, keys: null }
    return { digest: body.sha256, ranks: 36, edges: 288, body, matrixRanks: null, ...facts } as never
  }
  const { into, rank } = input as { into: string; rank?: number }
  if (kind === 'plan') return { statistics: {}, body: write(into, '{"format":"x"}\n') } as never
  if (kind === 'text' || kind === 'mapping') return write(into, 'text') as never
  if (kind === 'report') return { html: '<!doctype html>' } as never
  if (rank !== undefined && rank > 35) throw new RankweaveError('ERR_RANK', 'expected a rank below 36')
  return { json: '{}' } as never
}

it('requests that are generated from the schemas get answers with stable codes, and break nothing', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
  const defects: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void defects.push(line) })
  const limits = { entries: 12, endedJobs: 6, worlds: 4, workers: 2 }
  const { app } = await serviceApp(folder(), answer, logger, limits)
  // An injected answer that has ended keeps the timer of its connection, which then delays reports of
  // deadlocks.
  app.addHook('onResponse', async (_, { raw }) =>
    clearTimeout((raw as { timeoutHandle?: NodeJS.Timeout }).timeoutHandle),
  )
  const known: Record<string, string[]> = { t: [], p: [], j: [], w: [] }
  const remember = (kind: string, id: string) => {
    const ids = known[kind]
    if (!ids.includes(id)) ids.push(id)
    if (ids.length > 20) ids.shift()
  }
  const request = httpRequests(5, known)
  const seen = new Set<string>()
  const statuses = [200, 201, 202, 204, 400, 403, 404, 405, 409, 413, 414, 415, 503]
  const count = demanded(100_000, 0)
  for (let n = 0; n < count; n++) {
    const asked = request()
    const { statusCode, body } = await app.inject(asked as never)
    const what = `${n}: ${asked.method} ${asked.url} ${asked.payload ?? ''} -> ${statusCode} ${body.slice(0, 200)}`
    expect(statuses.includes(statusCode), what).toBe(true)
    if (statusCode >= 400) {
      const { error } = errorAnswerSchema.parse(JSON.parse(body))
      expect(errorCodes.includes(error.code as ErrorCode) && error.code !== 'ERR_WORKER', what).toBe(true)
      seen.add(error.code)
      continue
    }
    seen.add(`${asked.method} ${statusCode}`)
    const path = asked.url.split('?', 1)[0]
    if (asked.method === 'PUT' || (asked.method === 'POST' && path === '/v1/topologies'))
      remember('t', uploadAnswer.parse(JSON.parse(body)).id)
    else if (asked.method === 'POST' && path === '/v1/plans') {
      const { id, plan } = jobInfo.parse(JSON.parse(body))
      remember('j', id)
      remember('p', plan)
    } else if (asked.method === 'POST') remember('w', openedWorld.parse(JSON.parse(body)).id)
    else if (asked.method === 'GET' && /^\/v1\/plans\/[^/]*$/.test(path)) planInfo.parse(JSON.parse(body))
  }
  for (const code of [
    'POST 201',
    'POST 202',
    'GET 200',
    'DELETE 200',
    'DELETE 204',
    'ERR_ARGUMENT',
    'ERR_NOT_FOUND',
    'ERR_ORIGIN',
    'ERR_STRATEGY',
    'ERR_CANCELLED',
    'ERR_BUSY',
  ])
    expect([...seen]).toContain(code)
  expect((await app.inject('/healthz')).statusCode).toBe(200)
  expect(defects).toEqual([])
  expect(unhandled).toEqual([])
})
