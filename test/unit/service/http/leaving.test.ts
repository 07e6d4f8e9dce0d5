import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { serviceApp } from '../../../support/service-app.js'
import { addPlan, addTopology } from '../../../support/stored-plans.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('http-leaving')
const tenant = { id: 'local' }

/** A service whose tasks do not end by themselves; `asked` is the next one that is asked for. */
async function newService() {
  const found: { kind: string; signal: AbortSignal }[] = []
  const waiting: (() => void)[] = []
  const run = (kind: string, _input: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new RankweaveError('ERR_CANCELLED', 'cancelled')))
      found.push({ kind, signal })
      waiting.shift()?.()
    })
  const asked = async () => {
    while (found.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    return found.shift()!
  }
  const logger = pino({ level: 'silent' })
  const { app, context, store } = await serviceApp(folder(), run, logger, { workers: 1 })
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  /** Sends a request, and returns its connection. */
  const send = async (line: string, body = '') => {
    const socket = connect(Number(url.port), url.hostname)
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    const headers = [`host: ${url.host}`, 'content-type: application/json', `content-length: ${body.length}`]
    socket.write(`${line} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
    return socket
  }
  return { store, context, asked, send }
}

const aborted = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort')
}

it('a client that leaves takes its work with it: uploads, answers, views, texts and reports', async () => {
  const { store, asked, send } = await newService()
  const topology = await addTopology(store, tenant, 0)
  const plan = await addPlan(store, tenant, 1)
  const machine = encodeURIComponent('cluster:nodes=2,cores=2,profile=simgrid-fast')
  const kinds = []
  for (const [line, body] of [
    ['POST /v1/topologies?format=spec', 'moore:4x4:r=1'],
    [`GET /v1/topologies/${topology}/view`],
    [`GET /v1/plans/${plan}/view`],
    [`GET /v1/plans/${plan}/report`],
    [`GET /v1/plans/${plan}/ranks/1`],
    [`GET /v1/plans/${plan}/simulation?machine=${machine}&bytes=8`],
    [`GET /v1/plans/${plan}/schedule?version=1`],
    [`GET /v1/plans/${plan}/export?as=c`],
  ]) {
    const client = await send(line, body)
    const { kind, signal } = await asked()
    kinds.push(kind)
    expect(signal.aborted).toBe(false)
    client.destroy()
    await aborted(signal)
  }
  expect(kinds).toEqual([
    ...['topology', 'topologyView', 'planView', 'report', 'rank', 'simulation', 'text', 'text'],
  ])
})

it('an accepted job is made without its client, until it is cancelled', async () => {
  const { store, context, asked, send } = await newService()
  const topology = await addTopology(store, tenant, 0)
  const client = await send('POST /v1/plans', JSON.stringify({ topology, strategy: 'direct' }))
  const { kind, signal } = await asked()
  client.destroy()
  await once(client, 'close')
  expect([kind, signal.aborted]).toEqual(['plan', false])
  const { id } = [...store.records('jobs', tenant)][0]
  await context.jobs.cancel(tenant, id)
  expect(signal.aborted).toBe(true)
})
