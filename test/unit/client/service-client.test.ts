import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatSchedule, plan } from 'rankweave/schedule'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ServiceClient } from '../../../src/client/service-client.js'
import { mooreTopology } from '../../../src/topology/generate/stencil.js'

const digits = '0'.repeat(64)
const job = (state: string, error: unknown = null) => ({
  id: `j-${digits}`,
  plan: `p-${digits}`,
  state,
  error,
})
const { schedule } = plan(mooreTopology({ dims: [3, 3], radius: 1 }), { kind: 'direct' })
const text = `${[...formatSchedule(schedule)].join('\n')}\n`

/**
 * What the server answers next: a status and the pieces of a body; null: it cuts the connection after the
 * pieces; 0: it waits.
 */
let answer: { readonly status: number | null; readonly pieces: readonly string[] }
const asked: { method: string; url: string; token: string | undefined; body: string }[] = []

const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  const { method = '', url = '', headers } = request
  asked.push({ method, url, token: headers.authorization, body })
  const { status, pieces } = answer
  response.writeHead(status || 200)
  for (const piece of pieces) await new Promise((resolve) => response.write(piece, resolve))
  if (status === null) response.destroy()
  else if (status !== 0) response.end()
})
let url: string
let client: ServiceClient
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  client = new ServiceClient({ url: `${url}/some/page?x`, token: 'secret' })
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const json = (value: unknown, status = 200) => ({ status, pieces: [JSON.stringify(value)] })
const code = (expected: string) => expect.objectContaining({ name: 'RankweaveError', code: expected })

it('asks below /v1 of the origin, with the token in a header, and never in the address', async () => {
  answer = json({ topologies: [], next: null })
  expect(await client.topologies()).toEqual([])
  answer = json({ id: 't' }, 201)
  await client.upload('moore:4x4:r=1', { format: 'spec', name: 'a b&c', ranks: 3 })
  answer = json({})
  await client.simulation(`p-${digits}`, { machine: 'cluster:nodes=2,cores=2', bytes: 8 })
  await client.program(`p-${digits}`, 7)
  expect(asked.splice(0)).toMatchObject([
    { method: 'GET', url: '/v1/topologies?limit=1000', token: 'Bearer secret' },
    { method: 'POST', url: '/v1/topologies?format=spec&name=a+b%26c&ranks=3', body: 'moore:4x4:r=1' },
    { url: `/v1/plans/p-${digits}/simulation?machine=cluster%3Anodes%3D2%2Ccores%3D2&bytes=8` },
    { url: `/v1/plans/p-${digits}/ranks/7` },
  ])
})

it('refuses options of an upload that it does not have, before anything is sent', async () => {
  const options = { format: 'spec', rank: 3 } as const
  await expect(client.upload('moore:4x4:r=1', options)).rejects.toEqual(code('ERR_ARGUMENT'))
  expect(asked).toEqual([])
})

it('reads a schedule whose lines are cut anywhere, as bytes, as text and parsed', async () => {
  const cuts = [0, 1, 17, 18, 400, text.length]
  const pieces = cuts.map((at, i) => text.slice(at, cuts[i + 1])).filter((piece) => piece !== '')
  answer = { status: 200, pieces }
  expect(await client.scheduleText(`p-${digits}`, 1)).toBe(text)
  expect(asked.splice(0)[0].url).toBe(`/v1/plans/p-${digits}/schedule?version=1`)
  const stream = await client.scheduleStream(`p-${digits}`)
  expect(await new Response(stream as never).text()).toBe(text)
  expect(await client.schedule(`p-${digits}`)).toEqual(schedule)
  answer = { status: null, pieces: [text.slice(0, 500)] }
  await expect(client.schedule(`p-${digits}`)).rejects.toEqual(code('ERR_SERVICE'))
  await expect(client.scheduleText(`p-${digits}`)).rejects.toEqual(code('ERR_SERVICE'))
  answer = { status: 200, pieces: [text.slice(0, 500)] }
  await expect(client.schedule(`p-${digits}`)).rejects.toEqual(code('ERR_SCHEDULE_FORMAT'))
})

it('follows a job through its states to its end, which may be an error', async () => {
  const said = (...states: readonly object[]) =>
    states.map((state) => `data: ${JSON.stringify(state)}\n\n`).join('')
  const running = said(job('queued'), job('running'))
  const seen: string[] = []
  answer = { status: 200, pieces: [running.slice(0, 30), running.slice(30) + said(job('done'))] }
  expect(await client.follow(`j-${digits}`, ({ state }) => seen.push(state))).toMatchObject({ state: 'done' })
  expect(seen).toEqual(['queued', 'running', 'done'])
  for await (const { state } of client.events(`j-${digits}`)) {
    expect(state).toBe('queued')
    break
  }
  answer = { status: 200, pieces: [running] }
  await expect(client.follow(`j-${digits}`)).rejects.toEqual(code('ERR_SERVICE'))
  const error = { code: 'ERR_CANCELLED', message: 'the job was cancelled' }
  answer = { status: 200, pieces: [said(job('cancelled', error))] }
  expect(await client.follow(`j-${digits}`)).toMatchObject({ state: 'cancelled', error })
})

it('errors have the codes of the service', async () => {
  answer = json({ error: { code: 'ERR_BUSY', message: 'the queue is full' } }, 503)
  await expect(client.requestPlan({ topology: `t-${digits}` })).rejects.toEqual(code('ERR_BUSY'))
  answer = json({ error: { code: 'ERR_OF_LATER_VERSIONS', message: 'new' } }, 400)
  await expect(client.plans()).rejects.toEqual(code('ERR_PROTOCOL'))
  for (const body of ['<html>', 'null', '{"error":7}', '']) {
    answer = { status: 502, pieces: [body] }
    await expect(client.worlds(), body).rejects.toEqual(code('ERR_PROTOCOL'))
  }
  answer = { status: 200, pieces: ['<html>'] }
  await expect(client.worlds()).rejects.toEqual(code('ERR_PROTOCOL'))
  const nowhere = new ServiceClient({ url: 'http://127.0.0.1:9' })
  await expect(nowhere.plans()).rejects.toEqual(code('ERR_SERVICE'))
  await expect(nowhere.events(`j-${digits}`).next()).rejects.toEqual(code('ERR_SERVICE'))
})

it('a signal ends what waits and what is asked later, and says so', async () => {
  const aborting = new AbortController()
  const ended = new ServiceClient({ url, signal: aborting.signal })
  answer = { status: 0, pieces: [`data: ${JSON.stringify(job('running'))}\n\n`] }
  const following = ended.follow(`j-${digits}`, () => aborting.abort())
  await expect(following).rejects.toEqual(code('ERR_ABORTED'))
  await expect(ended.plans()).rejects.toEqual(code('ERR_ABORTED'))
  answer = { status: 0, pieces: [text.slice(0, 500)] }
  const late = new AbortController()
  const reading = new ServiceClient({ url, signal: late.signal })
  const stream = reading.scheduleText(`p-${digits}`)
  late.abort()
  await expect(stream).rejects.toEqual(code('ERR_ABORTED'))
  expect(() => new ServiceClient({ url, signal: 7 as never })).toThrow(code('ERR_ARGUMENT'))
})

it('what is no id is refused before anything is asked', async () => {
  asked.length = 0
  for (const id of [
    '',
    '..',
    `p-${digits}`,
    `t-${digits}/../x`,
    `t-${digits}?x`,
    null,
    7,
    `t-${'A'.repeat(64)}`,
  ]) {
    await expect(client.topology(id as string), String(id)).rejects.toEqual(code('ERR_ARGUMENT'))
    await expect(client.cancel(id as string), String(id)).rejects.toEqual(code('ERR_ARGUMENT'))
  }
  await expect(client.report(`j-${digits}`)).rejects.toEqual(code('ERR_ARGUMENT'))
  expect(asked).toEqual([])
})
