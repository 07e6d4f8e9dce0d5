import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { MountedWorldInfo, OpenedWorld } from '../../../../src/client/protocol/mounted-worlds.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { startService } from '../../../support/service.js'
import { serveProcess } from '../../../support/service-kills.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { onlyObject } from '../../cli/run-cli.js'
import { spawnCli } from '../../cli/spawn-cli.js'

const folder = temporaryFolder('service-doors')
const token = 'a'.repeat(32)
const other = 'b'.repeat(32)
const ca = loopbackTls.cert

describe('the command, with TLS, tokens, a public name and an allowed origin', () => {
  let served: Awaited<ReturnType<typeof serveProcess>>
  let sockets: string

  beforeAll(async () => {
    const file = (name: string, text: string) => {
      const path = join(folder(), name)
      writeFileSync(path, text)
      return path
    }
    served = await serveProcess(join(folder(), 'data'), [
      ...['--tls-cert', file('cert.pem', loopbackTls.cert), '--tls-key', file('key.pem', loopbackTls.key)],
      ...['--token-file', file('tokens', `# two\n${token}\n${other}\n`)],
      ...['--public-url', 'https://plans.example.org', '--allow-origin', 'https://lab.example.org'],
      ...['--limits', 'worlds=2,ranks=4096'],
    ])
    sockets = served.url.replace('https:', 'wss:')
  })

  afterAll(async () => {
    // With worlds that wait and sockets that are open.
    served.process.kill('SIGTERM')
    // As `npx` and shells do, which pass it on.
    served.process.kill('SIGTERM')
    expect(await once(served.process, 'exit')).toEqual([0, null])
    expect(served.log()).not.toMatch(new RegExp(`${token}|${other}`))
  })

  function ask(
    path: string,
    {
      method = 'GET',
      body,
      headers = {},
    }: { method?: string; body?: object; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: unknown }> {
    return new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const all = { authorization: `Bearer ${token}`, ...type, ...headers }
      // The certificate is of this host, whatever name is asked for.
      const tls = { ca, servername: 'localhost' }
      const asked = request(served.url + path, { method, headers: all, ...tls, agent: false }, (response) => {
        let text = ''
        response.on('data', (piece) => {
          text += piece
        })
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: text === '' ? null : JSON.parse(text),
          }),
        )
      })
      asked.on('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  it('answers by TLS only, by its own name and its public one', async () => {
    expect(served.url).toMatch(/^https:/)
    await expect(fetch(served.url.replace('https:', 'http:'))).rejects.toThrow()
    expect((await ask('/v1/plans')).status).toBe(200)
    expect((await ask('/v1/plans', { headers: { host: 'plans.example.org' } })).status).toBe(200)
    expect((await ask('/v1/plans', { headers: { host: 'lab.example.org' } })).status).toBe(403)
    expect((await ask('/v1/plans', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
  })

  it('lets pages of the allowed origin read its answers, and no others', async () => {
    const lab = { origin: 'https://lab.example.org' }
    const before = await ask('/v1/plans', { method: 'OPTIONS', headers: lab })
    expect(before).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': lab.origin, vary: 'origin' },
    })
    expect(before.headers['access-control-allow-headers']).toContain('authorization')
    expect((await ask('/v1/plans', { headers: lab })).headers['access-control-allow-origin']).toBe(lab.origin)
    // Its own pages need no permission.
    const own = await ask('/v1/plans', { headers: { origin: served.url } })
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined])
    for (const method of ['GET', 'OPTIONS'])
      expect((await ask('/v1/plans', { method, headers: { origin: 'https://evil.example' } })).status).toBe(
        403,
      )
  })

  it('members of a world meet over the port, and those of another tenant elsewhere', async () => {
    const members = await Promise.all(
      [token, token, other].map(async (secret) => {
        const socket = new WebSocket(`${sockets}/v1/worlds`, { ca })
        const messages: Record<string, unknown>[] = []
        socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Record<string, unknown>))
        await once(socket, 'open')
        const say = (message: object) => socket.send(JSON.stringify(message))
        const has = async (what: object) => {
          const [name, value] = Object.entries(what)[0]
          let found = messages.find((message) => message[name] === value)
          while (found === undefined) {
            await once(socket, 'message')
            found = messages.find((message) => message[name] === value)
          }
          return found
        }
        say({ id: 1, kind: 'hello', protocol: 1, token: secret })
        say({ id: 2, kind: 'join', name: 'meeting', members: 2 })
        await has({ reply: 2 })
        return { socket, say, has }
      }),
    )
    const [first, second, stranger] = members as [
      (typeof members)[0],
      (typeof members)[0],
      (typeof members)[0],
    ]
    const begun = await Promise.all([first, second].map(({ has }) => has({ event: 'begun' })))
    expect(begun.map(({ rank }) => rank).sort()).toEqual([0, 1])
    for (const { say } of [first, second]) say({ id: 3, kind: 'split', comm: 'world', color: 0, key: 0 })
    for (const { has } of [first, second]) expect(await has({ reply: 3 })).toMatchObject({ size: 2 })
    expect((await ask('/v1/worlds')).body).toMatchObject({ worlds: [{ name: 'meeting' }] })
    // Its world has the same name, and waits.
    expect(await stranger.has({ reply: 2 })).toMatchObject({ joined: 1 })
    for (const { socket } of members) socket.terminate()
  })

  it('sockets of other origins and at other paths are refused before the handshake', async () => {
    for (const [path, origin, status] of [
      ['/v1/worlds', 'https://evil.example', 403],
      ['/v1/rendezvous', 'https://evil.example', 403],
      ['/v1/elsewhere', 'https://lab.example.org', 404],
    ] as const) {
      const [error] = (await once(new WebSocket(sockets + path, { ca, origin }), 'error')) as [Error]
      expect(error.message).toContain(String(status))
    }
  })

  it('rankweave join joins a world that a tenant has opened, and the tenant sees how it ended', async () => {
    const program = join(folder(), 'sum.mjs')
    writeFileSync(
      program,
      "export default async (world) => (await world.allreduce(Float64Array.of(world.rank), 'sum'))[0]",
    )
    const open = async (body: object, secret = token) => {
      const headers = { authorization: `Bearer ${secret}` }
      return ask('/v1/rendezvous/worlds', { method: 'POST', body, headers })
    }
    const opened = await open({ ranks: 4, processes: 1 })
    expect(opened.status).toBe(201)
    const { token: secret, ...info } = opened.body as OpenedWorld
    expect((await ask('/v1/rendezvous/worlds')).body).toEqual({ worlds: [info] })
    const words = ['--token', secret, '--ca', join(folder(), 'cert.pem'), '--json', program]
    const joined = await spawnCli(['join', `${sockets}/v1/rendezvous`, ...words])
    expect(joined.exitCode, joined.stderr).toBe(0)
    expect(onlyObject(joined)).toMatchObject({ ranks: 4, results: [6, 6, 6, 6] })
    let now: MountedWorldInfo
    do now = (await ask(`/v1/rendezvous/worlds/${info.id}`)).body as MountedWorldInfo
    while (now.ended === null)
    expect(now.ended).toEqual({ lost: [], failed: null, closed: null })

    // Two continue at a time; another tenant's do not count, and are not seen.
    const [second, third] = [await open({ ranks: 2 }), await open({ ranks: 2 })]
    expect([second.status, third.status]).toEqual([201, 201])
    expect(await open({ ranks: 2 })).toMatchObject({ status: 503, body: { error: { code: 'ERR_BUSY' } } })
    const theirs = (await open({ ranks: 2 }, other)).body as OpenedWorld
    expect(await ask(`/v1/rendezvous/worlds/${theirs.id}`)).toMatchObject({ status: 404 })
    expect(await ask(`/v1/rendezvous/worlds/${theirs.id}`, { method: 'DELETE' })).toMatchObject({
      status: 404,
    })
    const { id } = second.body as OpenedWorld
    expect(await ask(`/v1/rendezvous/worlds/${id}`, { method: 'DELETE' })).toMatchObject({
      status: 200,
      body: { ended: { closed: 'its owner closed it' } },
    })
    expect((await open({ ranks: 2 })).status).toBe(201)
    for (const { body } of [opened, second, third])
      expect(served.log()).not.toContain((body as OpenedWorld).token)
  })
})

it('a flood of connections is cut off at the limit, and a socket that does not answer pings is ended', async () => {
  const pingClock = new ManualClock()
  const { service, end } = await startService({ limits: { connections: 8 }, pingClock })
  const { port } = new URL(service.url)
  const flood = Array.from({ length: 30 }, () => connect(Number(port), '127.0.0.1'))
  let cut = 0
  await new Promise<void>((resolve) => {
    for (const socket of flood) {
      socket.on('error', () => {})
      socket.resume()
      socket.once('close', () => {
        cut++
        if (cut === 22) resolve()
      })
    }
  })
  for (const socket of flood) socket.destroy()
  let status = 0
  while (status !== 200)
    status = await fetch(`${service.url}/healthz`).then(
      (response) => response.status,
      () => 0,
    )
  const url = `${service.url.replace('http:', 'ws:')}/v1/worlds`
  const hello = JSON.stringify({ id: 1, kind: 'hello', protocol: 1 })
  const [answers, silent] = [new WebSocket(url), new WebSocket(url, { autoPong: false })]
  for (const socket of [answers, silent]) socket.on('open', () => socket.send(hello))
  const replied = (socket: WebSocket) => once(socket, 'message')
  await Promise.all([answers, silent].map(replied))
  const ended = once(silent, 'close')
  for (let round = 0; round < 3; round++) {
    const pinged = once(answers, 'ping')
    pingClock.pass()
    await pinged
    // Its answer to the ping has come when its next call is answered.
    answers.send(JSON.stringify({ id: round + 2, kind: 'watch' }))
    await replied(answers)
  }
  await ended
  expect(answers.readyState).toBe(WebSocket.OPEN)
  answers.close()
  await end()
})
