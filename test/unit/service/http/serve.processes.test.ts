import { readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type ErrorAnswer,
  planAnswer,
  type RankProgram,
  rankProgram,
  type UploadAnswer,
} from '../../../../src/client/protocol/http.js'
import { serve } from '../../../../src/service/http/serve.js'
import { rawConnection, requestText, statusesOf } from '../../../support/raw-connection.js'
import { asking, startService } from '../../../support/service.js'

/** Not as a path: none of this repository leads out of it. */
const up = '../'
const one = 'a'.repeat(32)
const other = 'b'.repeat(32)
const metricsToken = 'm'.repeat(32)
const matrix = readFileSync('test/matrices/dwt_193.mtx')

let started: Awaited<ReturnType<typeof startService>>
let ours: ReturnType<typeof asking>
let theirs: ReturnType<typeof asking>

beforeAll(async () => {
  const limits = {
    uploadBytes: 100_000,
    expandedBytes: 200_000,
    requestBytes: 4096,
    ranks: 4096,
    edges: 400_000,
  }
  started = await startService({ tokens: [one, other], metricsToken, limits: { ...limits, workers: 1 } })
  ours = asking(started.service, one)
  theirs = asking(started.service, other)
})

afterAll(() => started.end())

describe('a plan by the service', () => {
  it('is planned once for equal requests, and there for its tenant alone, until it is removed', async () => {
    const uploaded = await ours.upload(matrix, 'format=mtx&name=dwt')
    expect(uploaded).toMatchObject({ status: 201, body: { ranks: 193, name: 'dwt', bytes: matrix.length } })
    const again = await ours.upload(gzipSync(matrix), 'format=mtx')
    const remark = 'stored before: name, format and bytes are those of the first upload'
    expect(again).toEqual({ status: 200, body: { ...uploaded.body, remark } })
    const topology = uploaded.body.id
    const requests = [
      { topology, k: 4 },
      { topology, k: 4, strategy: 'common-neighbor', dedupe: true },
    ]
    const accepted = await Promise.all(requests.map((request) => ours.plan(request)))
    expect(new Set(accepted.map(({ body }) => body.plan)).size).toBe(1)
    const { id, plan: planId } = accepted[0].body
    expect((await ours.events(id)).at(-1)).toMatchObject({ state: 'done', error: null })
    expect(await ours.plan(requests[0])).toMatchObject({ status: 200, body: { state: 'done' } })

    const { body } = await ours.info(planId)
    expect(body).toMatchObject({ id: planId, statistics: { k: 4, ranks: 193, verified: true, topology } })
    planAnswer.parse(body)
    const schedule = await (await ours.get(`/v1/plans/${planId}/schedule`)).text()
    const { operations, ...line } = (await ours.json<RankProgram>(`/v1/plans/${planId}/ranks/7`)).body
    expect(JSON.stringify(line)).toBe(schedule.split('\n')[8])
    rankProgram.parse({ ...line, operations })

    // Nothing of it is there for another tenant, or without a token.
    for (const path of [
      `topologies/${topology}`,
      `jobs/${id}`,
      `jobs/${id}/events`,
      `plans/${planId}`,
      `plans/${planId}/schedule`,
    ]) {
      expect(await theirs.json(`/v1/${path}`), path).toMatchObject({
        status: 404,
        body: { error: { code: 'ERR_NOT_FOUND' } },
      })
    }
    expect((await theirs.get(`/v1/plans/${planId}`, { method: 'DELETE' })).status).toBe(404)
    expect(await theirs.plan({ topology })).toMatchObject({ status: 404 })
    expect((await theirs.json('/v1/plans')).body).toEqual({ plans: [], next: null })
    expect((await asking(started.service).json('/v1/plans')).body).toMatchObject({
      error: { code: 'ERR_TOKEN' },
    })

    expect((await ours.get(`/v1/plans/${planId}`, { method: 'DELETE' })).status).toBe(204)
    expect((await ours.get(`/v1/plans/${planId}`)).status).toBe(404)
  })

  it('has a remark if it sends more than direct sends; the default strategy is direct or auto', async () => {
    const edges = Array.from({ length: 16 }, (_, rank) => `${rank} ${(rank + 1) % 16}\n`).join('')
    const topology = (await ours.upload(edges, 'format=edges')).body.id
    const made = async (request: object) => {
      const { body } = await ours.plan({ topology, ...request })
      await ours.events(body.id)
      const info = (await ours.info(body.plan)).body
      planAnswer.parse(info)
      return info.statistics
    }
    const remark = 'the plan sends more messages than direct sends: 30 instead of 16'
    expect(await made({ strategy: 'routed' })).toMatchObject({
      messages: { direct: 16, planned: 30 },
      remark,
    })
    expect(await made({})).toMatchObject({ strategy: 'direct', remark: null })
    const machine = 'cluster:nodes=1,cores=16,profile=simgrid-fast'
    expect(await made({ machine, bytes: 4 })).toMatchObject({
      ...{ bytesPerBlock: 4, messages: { planned: 16 }, choiceMs: expect.any(Number) },
    })
  })

  it('ends with a code where it cannot be made, and when it is cancelled', async () => {
    const { body } = await ours.upload('moore:16x16:r=1', 'format=spec')
    const topology = body.id
    const random = (await ours.upload('er:16:d=0.5:seed=1', 'format=spec')).body.id
    const failed = await ours.plan({ topology: random, strategy: 'cartesian' })
    expect((await ours.events(failed.body.id)).at(-1)).toMatchObject({
      state: 'failed',
      error: { code: 'ERR_STRATEGY' },
    })
    for (const [request, code] of [
      [{ topology, machine: 'hosts:/etc/passwd' }, 'ERR_MACHINE'],
      [{ topology, more: 1 }, 'ERR_ARGUMENT'],
      [{ topology: `t-${'0'.repeat(64)}` }, 'ERR_NOT_FOUND'],
    ] as const)
      expect((await ours.plan(request as never)).body, code).toMatchObject({ error: { code } })
    const jobs = await Promise.all([2, 3, 4, 5, 6].map((k) => ours.plan({ topology, k })))
    const last = jobs.at(-1)!.body
    const cancelled = await ours.json(`/v1/jobs/${last.id}`, { method: 'DELETE' })
    expect(cancelled.body).toMatchObject({ state: 'cancelled', error: { code: 'ERR_CANCELLED' } })
    expect(await ours.json(`/v1/plans/${last.plan}/view`)).toMatchObject({
      status: 409,
      body: { error: { code: 'ERR_CANCELLED' } },
    })
    for (const { body } of jobs.slice(0, -1))
      expect((await ours.events(body.id)).at(-1)).toMatchObject({ state: 'done' })
    expect((await ours.plan({ topology, k: 6 })).body.state).not.toBe('cancelled')
  })
})

describe('attacks', () => {
  const twice = gzipSync(Buffer.from('0 1\n'))
  const refused = [
    [
      'a matrix that claims millions of rows',
      '%%MatrixMarket matrix coordinate pattern general\n30000000 30000000 1\n1 1\n',
      'format=mtx',
      400,
    ],
    [
      'a matrix that claims more entries than it has',
      '%%MatrixMarket matrix coordinate pattern general\n9 9 99999999\n1 1\n',
      'format=mtx',
      400,
    ],
    ['an edge between ranks beyond the limit', '0 16000000\n', 'format=edges', 400],
    ['a grid beyond the limits', 'moore:4096x4096:r=4', 'format=spec', 400],
    ['a file of this host', 'edges:/etc/passwd', 'format=spec', 400],
    ['a path as the format', 'x', `format=${up}${up}etc/passwd`, 400],
    ['nothing', '', 'format=mtx', 400],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0, 1]), 'format=json', 400],
    ['deep JSON', '['.repeat(50_000), 'format=json', 400],
    ['deep JSON that ends', '['.repeat(40_000) + ']'.repeat(40_000), 'format=json', 400],
    ['more than the limit', new Uint8Array(100_001), 'format=edges', 413],
    ['what expands beyond the limit', gzipSync(Buffer.alloc(50_000_000, '0 1\n')), 'format=edges', 413],
    ['what is compressed twice', gzipSync(twice), 'format=edges', 400],
    [
      'what is compressed twice in two pieces',
      Buffer.concat([gzipSync(twice.subarray(0, 1)), gzipSync(twice.subarray(1))]),
      ...(['format=edges', 400] as const),
    ],
  ] as const

  it('a table without its format is told to state it', async () => {
    const message =
      'the upload: expected a topology in one line, got several: pass its format, such as ?format=csv'
    const answer = await ours.upload('source,target\n0,1\n', 'name=table')
    expect(answer).toMatchObject({ status: 400, body: { error: { message } } })
  })

  it('lines that curl -d has joined are refused; the bytes of --data-binary are taken, with CRLF too', async () => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const upload = (
      body: NonNullable<RequestInit['body']>,
      headers: Record<string, string> = type,
      query = 'format=edges',
    ) => ours.json(`/v1/topologies?${query}`, { method: 'POST', headers, body })
    const text = '0 1\n1 2\n'
    const message = /^the upload: expected lines, got no line break: .*--data-binary/
    const joined = {
      status: 400,
      body: { error: { code: 'ERR_ARGUMENT', message: expect.stringMatching(message) } },
    }
    expect(await upload(text.replaceAll('\n', ''))).toMatchObject(joined)
    for (const body of [text, text.replaceAll('\n', '\r\n'), gzipSync(text)])
      expect(await upload(body)).toMatchObject({ body: { ranks: 3, edges: 2 } })
    for (const headers of [{}, type])
      expect(await upload('0 1', headers)).toMatchObject({ body: { ranks: 2, edges: 1 } })
    expect(await upload('', type)).toMatchObject({
      body: { error: { message: 'the upload: expected a topology, got an empty body' } },
    })
    expect(await upload('moore:4x4:r=1', type, 'format=spec')).toMatchObject({ status: 201 })
    const form = new FormData()
    form.set('file', new Blob([text]))
    expect(await ours.upload(form, 'format=edges')).toMatchObject({
      body: { error: { message: expect.stringMatching(/^the upload is multipart.*--data-binary @FILE`$/) } },
    })
  })

  it('an upload that is read, but odd, has a remark, and a graph in JSON the keys of its ranks', async () => {
    expect((await ours.upload('1 2\n1 2\n2 2\n', 'format=edges')).body).toMatchObject({
      ...{ ranks: 3, edges: 3, selfLoops: 1, parallelEdges: 1, idleRanks: 1, keys: null },
      remark:
        'rank 0 has no edges: ranks count from 0, and the upload may count from 1; edges from a rank to itself: 1; edges that repeat another: 1',
    })
    const graph = {
      options: { type: 'undirected' },
      nodes: [{ key: 'db' }, { key: 7 }, { key: 'idle' }],
      edges: [{ source: 'db', target: 7 }],
    }
    const named = (await ours.upload(JSON.stringify(graph), 'format=json')).body
    expect(named).toMatchObject({
      ...{
        ranks: 3,
        edges: 2,
        keys: ['db', '7', 'idle'],
        remark: "node '7' is rank 1: ranks follow the order of nodes; ranks without edges: 1",
      },
    })
    const { id, ranks, edges, name, format, bytes, createdAt, keys } = named as unknown as UploadAnswer
    expect((await ours.json(`/v1/topologies/${id}`)).body).toEqual({
      ...{ id, ranks, edges, name, format, bytes, createdAt, keys },
    })
    const spec = (await ours.upload('moore:2x2:r=1', 'format=spec')).body
    expect(spec).toMatchObject({ parallelEdges: expect.any(Number), remark: null, keys: null })
  })

  it('ranks without a matrix, a spec that is none, a missing field and no token say what to send', async () => {
    const refused = async (text: string, query: string) => {
      const { body } = await ours.upload(text, query)
      return (body as unknown as ErrorAnswer).error.message
    }
    expect(await refused('0 1\n', 'format=edges&ranks=8')).toBe(
      'ranks: expected none with format=edges, as only the rows of format=mtx are distributed, got 8',
    )
    expect(await refused('0 1', 'name=x')).toMatch(/; for a file pass its format, such as \?format=edges$/)
    expect(await refused(matrix.toString(), 'format=edges')).toMatch(
      /; this looks like mtx: pass \?format=mtx$/,
    )
    expect(await refused('0,1\n1,2\n', 'format=edges')).toMatch(
      /^line 1, column \d+ of the upload: expected .*; this looks like csv: pass \?format=csv$/,
    )
    const plan = `/v1/plans/p-${'0'.repeat(64)}`
    expect((await ours.json(`${plan}/simulation?machine=cluster:nodes=4`)).body).toMatchObject({
      error: { message: "field 'bytes' is missing" },
    })
    expect((await ours.json(`${plan}/export`)).body).toMatchObject({
      error: { message: "field 'as' is missing: expected one of c, goal" },
    })
    const { error } = (await asking(started.service).json<ErrorAnswer>('/v1/plans')).body
    expect(error.message).toMatch(/Authorization: Bearer TOKEN/)
  })

  it.each(refused)(
    '%s is refused with a code, and the service continues',
    async (_what, body, query, status) => {
      const answer = await ours.upload(body as NonNullable<RequestInit['body']>, query)
      expect(answer, JSON.stringify(answer.body)).toMatchObject({
        status,
        body: { error: { code: /^ERR_/ } },
      })
      expect((await ours.get('/healthz')).status).toBe(200)
    },
  )

  it('requests that are malformed, of other origins, or for other hosts get codes', async () => {
    const { url } = started.service
    const post = (body: string, type = 'application/json') =>
      ours.json('/v1/plans', { method: 'POST', headers: { 'content-type': type }, body })
    for (const body of ['{', 'null', '[]', '['.repeat(2000), `{"topology":"${up}${up}x"}`])
      expect((await post(body)).body, body).toMatchObject({ error: { code: 'ERR_ARGUMENT' } })
    expect((await post('x', 'text/weird')).status).toBe(415)
    const encoded = (path: string, encoding: string) =>
      ours.json(path, { method: 'POST', headers: { 'content-encoding': encoding }, body: '0 1\n' })
    for (const [path, encoding] of [
      ['/v1/topologies?format=edges', 'br'],
      ['/v1/plans', 'gzip'],
    ])
      expect(await encoded(path, encoding)).toMatchObject({
        status: 415,
        body: {
          error: { message: expect.stringMatching(/^Content-Encoding: expected .*none, got '(br|gzip)'/) },
        },
      })
    const patched = await ours.get(`/v1/plans/p-${'0'.repeat(64)}`, { method: 'PATCH' })
    expect([patched.status, patched.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD'])
    expect((await post(`"${'x'.repeat(5000)}"`)).body).toMatchObject({
      error: { code: 'ERR_MESSAGE_TOO_LARGE' },
    })
    const status = async (path: string, token: string, ...headers: readonly string[]) => {
      const lines = [`GET ${path} HTTP/1.1`, `authorization: Bearer ${token}`, 'connection: close']
      const host = headers.some((header) => header.startsWith('host')) ? [] : ['host: 127.0.0.1']
      const { whole } = await rawConnection(url, [...lines, ...host, ...headers, '', ''].join('\r\n'))
      return statusesOf(await whole())[0]
    }
    expect(await status('/v1/plans', one, 'origin: http://evil.example')).toBe(403)
    expect(await status('/v1/plans', one, 'host: evil.example')).toBe(403)
    expect(await status('/v1/plans', one, `host: ${new URL(url).host}`, `origin: ${url}`)).toBe(200)
    const plans = '/v1/plans'
    const paths = [`/${up}package.json`, '/%2e%2e/package.json', `${plans}/..%2f..%2fx`, `${plans}/p-1`]
    for (const path of [...paths, '/nothing', '/v1/topologies/%00'])
      expect([400, 404], path).toContain(await status(path, one))
    for (const token of ['', `${one}x`, one.toUpperCase(), 'x'.repeat(10_000)])
      expect(await status(plans, token)).toBe(401)
  })

  it('an upload that ends early is no defect of the service, and leaves nothing', async () => {
    const headers = [`authorization: Bearer ${one}`, 'content-length: 9']
    const text = requestText('POST /v1/topologies?format=edges', headers, '0 1')
    const { socket } = await rawConnection(started.service.url, text)
    const temporary = () => readdirSync(join(started.data, 'temporary'))
    while (temporary().length === 0) await turn()
    socket.destroy()
    while (temporary().length > 0) await turn()
    expect(started.lines.filter((line) => /"level":[56]0/.test(line))).toEqual([])
  })

  it('what a request claims is not waited for', async () => {
    const headers = [`authorization: Bearer ${one}`, 'content-length: 9999999999']
    const { heard, socket } = await rawConnection(
      started.service.url,
      requestText('POST /v1/topologies', headers, 'x'),
    )
    await heard('"code":"ERR_MESSAGE_TOO_LARGE"')
    socket.destroy()
  })

  it('no token is in the log', () => {
    expect(started.lines.length).toBeGreaterThan(10)
    expect(started.lines.join('')).not.toMatch(new RegExp(`${one}|${other}`))
  })

  it('metrics count requests of all tenants by route, for the token of metrics alone', async () => {
    for (const tenant of [asking(started.service), ours, theirs])
      expect(await tenant.json('/metrics')).toMatchObject({
        status: 401,
        body: { error: { code: 'ERR_TOKEN' } },
      })
    const watching = asking(started.service, metricsToken)
    expect((await watching.get('/v1/plans')).status).toBe(401)
    const text = await (await watching.get('/metrics')).text()
    expect(text).toMatch(
      /rankweave_http_requests_total\{method="POST",route="\/v1\/topologies",status="201"\} [1-9]/,
    )
    expect(text).toMatch(/\nrankweave_jobs_done [1-9]/)
  })
})

describe('a service', () => {
  it('is refused beyond this host without tokens, where its data is in use, and with limits that are none', async () => {
    const { data } = started
    await expect(serve({ data, host: '0.0.0.0' })).rejects.toMatchObject({ code: 'ERR_USAGE' })
    const lines: string[] = []
    const logger = pino({}, { write: (line) => void lines.push(line) })
    await expect(serve({ data, host: '0.0.0.0', tokens: [one], logger })).rejects.toMatchObject({
      code: 'ERR_STORE',
    })
    expect(lines).toEqual([expect.stringContaining('without TLS, tokens travel readable to 0.0.0.0')])
    await expect(serve({ data, limits: { nothing: 1 } as never })).rejects.toMatchObject({
      code: 'ERR_USAGE',
    })
    // Timers take no more, and worlds have no more.
    for (const limits of [{ pingMs: 2 ** 31 }, { members: 4097 }, { ranks: 2 ** 24 + 1 }, { workers: 0 }])
      await expect(serve({ data, limits }), JSON.stringify(limits)).rejects.toMatchObject({
        code: 'ERR_USAGE',
      })
    // The same process may be a successor that got the id of the one that was killed; a live service of this
    // process is not.
    await expect(serve({ data })).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: `${realpathSync(data)} is in use by another process: end it, or give another --data`,
    })
    const taken = { data: `${data}-taken`, port: Number(new URL(started.service.url).port) }
    onTestFinished(() => rmSync(taken.data, { recursive: true, force: true }))
    await expect(serve(taken)).rejects.toMatchObject({
      code: 'ERR_FABRIC',
      message: expect.stringContaining(`${taken.port} (give another --port): listen EADDRINUSE`),
    })
  })

  it('takes up the jobs that waited when it ended, and refuses more than its queue holds', async () => {
    const first = await startService({ limits: { workers: 1, queuedJobs: 3 } })
    const before = asking(first.service)
    const { body } = await before.upload('moore:12x12:r=2', 'format=spec')
    const plans = []
    let busy = 0
    for (let k = 2; k < 10; k++) {
      const { status, body: job } = await before.plan({ topology: body.id, k })
      if (status === 202) plans.push(job)
      else {
        expect(job).toMatchObject({ error: { code: 'ERR_BUSY' } })
        busy++
      }
    }
    await first.service.close(1)
    const { data } = first
    const second = await startService({ data })
    const after = asking(second.service)
    for (const { id, plan } of plans) {
      expect((await after.events(id)).at(-1)).toMatchObject({ state: 'done' })
      expect((await after.get(`/v1/plans/${plan}/schedule`)).status).toBe(200)
    }
    expect(plans.length + busy).toBe(8)
    await second.end()
    await first.end()
  })
})
