import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { serveProcess } from '../../../support/service-kills.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('service-doors')
const [token, other] = ['a'.repeat(32), 'b'.repeat(32)]
const ca = loopbackTls.cert

describe('the command, with TLS, tokens, a public name and an allowed origin', () => {
  let served: Awaited<ReturnType<typeof serveProcess>>

  beforeAll(async () => {
    const file = (name: string, text: string) => {
      const path = join(folder(), name)
      writeFileSync(path, text)
      return path
    }
    served = await serveProcess(join(folder(), 'data'), [
      ...['--tls-cert', file('cert.pem', ca), '--tls-key', file('key.pem', loopbackTls.key)],
      ...['--token-file', file('tokens', `# two\n${token}\n${other}\n`)],
      ...['--public-url', 'https://plans.example.org', '--allow-origin', 'https://lab.example.org'],
      ...['--limits', 'worlds=2,ranks=4096'],
    ])
  })

  afterAll(async () => {
    // With a socket that is open, and twice, as `npx` and shells do, which pass it on.
    for (let times = 0; times < 2; times++) served.process.kill('SIGTERM')
    expect(await once(served.process, 'exit')).toEqual([0, null])
    expect(served.log()).not.toMatch(new RegExp(`${token}|${other}`))
  })

  interface Asked {
    readonly method?: string
    readonly headers?: Record<string, string>
    readonly body?: object
  }
  const ask = ({ method = 'GET', headers = {}, body }: Asked = {}, path = '/v1/plans') =>
    new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const all = { authorization: `Bearer ${token}`, ...type, ...headers }
      // The certificate is of this host, whatever name is asked for.
      const options = { method, headers: all, ca, servername: 'localhost', agent: false }
      const asked = request(served.url + path, options, (response) => {
        response.resume()
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers }))
      })
      asked.on('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })

  it('answers by TLS only, by its own name and its public one', async () => {
    expect(served.url).toMatch(/^https:/)
    await expect(fetch(served.url.replace('https:', 'http:'))).rejects.toThrow()
    for (const [headers, status] of [
      [{}, 200],
      [{ host: 'plans.example.org' }, 200],
      [{ host: 'lab.example.org' }, 403],
      [{ authorization: 'Bearer wrong' }, 401],
    ] as const)
      expect((await ask({ headers })).status, JSON.stringify(headers)).toBe(status)
  })

  it('lets pages of the allowed origin read its answers, and no others', async () => {
    const lab = { origin: 'https://lab.example.org' }
    const before = await ask({ method: 'OPTIONS', headers: lab })
    expect(before).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': lab.origin, vary: 'origin' },
    })
    expect(before.headers['access-control-allow-headers']).toContain('authorization')
    expect((await ask({ headers: lab })).headers['access-control-allow-origin']).toBe(lab.origin)
    // Its own pages need no permission.
    const own = await ask({ headers: { origin: served.url } })
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined])
    for (const method of ['GET', 'OPTIONS'])
      expect((await ask({ method, headers: { origin: 'https://evil.example' } })).status).toBe(403)
  })

  it('refuses sockets of other origins and at other paths before the handshake, and takes its own', async () => {
    const sockets = served.url.replace('https:', 'wss:')
    for (const [path, origin, status] of [
      ['/v1/worlds', 'https://evil.example', 403],
      ['/v1/rendezvous', 'https://evil.example', 403],
      ['/v1/elsewhere', 'https://lab.example.org', 404],
      ['/', 'https://lab.example.org', 404],
    ] as const) {
      const [error] = (await once(new WebSocket(sockets + path, { ca, origin }), 'error')) as [Error]
      expect(error.message).toContain(String(status))
    }
    await once(new WebSocket(`${sockets}/v1/worlds`, { ca, origin: 'https://lab.example.org' }), 'open')
  })

  it('has so many worlds of a tenant at a time as its limits say', async () => {
    const open = (secret: string) =>
      ask(
        { method: 'POST', body: { ranks: 2 }, headers: { authorization: `Bearer ${secret}` } },
        '/v1/rendezvous/worlds',
      )
    const statuses = []
    for (const secret of [token, token, token, other]) statuses.push((await open(secret)).status)
    expect(statuses).toEqual([201, 201, 503, 201])
  })
})
