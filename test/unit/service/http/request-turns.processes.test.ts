import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawConnection, requestText, socketOffer, statusesOf } from '../../../support/raw-connection.js'
import { asking, startService } from '../../../support/service.js'

const [ours, theirs] = ['a'.repeat(32), 'b'.repeat(32)]
const unreadBytes = 150_000
type Started = Awaited<ReturnType<typeof startService>>
/** One that anybody may ask, one with few requests in flight, and one that asks for tokens. */
let [open, narrow, guarded]: Started[] = []
beforeAll(async () => {
  ;[open, narrow, guarded] = await Promise.all([
    startService(),
    startService({ limits: { connectionRequests: 4 } }),
    startService({ tokens: [ours, theirs], limits: { unreadBytes } }),
  ])
})
afterAll(() => Promise.all([open, narrow, guarded].map((each) => each!.end())))

/** What a service answers to a text, until it ends the connection. */
const answers = async ({ service }: Started, text: string) => (await rawConnection(service.url, text)).whole()
const plans = requestText('GET /v1/plans')
const last = requestText('GET /last', ['connection: close'])

describe('requests that follow each other on a connection', () => {
  it('end with the first that lacks its token', async () => {
    const before = guarded!.lines.length
    expect(statusesOf(await answers(guarded!, plans.repeat(40)))).toEqual([401])
    expect(guarded!.lines.slice(before).filter((line) => line.includes('"request"'))).toHaveLength(1)
  })

  it('are answered in order, as many as may be in flight; those beyond end it with ERR_BUSY', async () => {
    expect(statusesOf(await answers(narrow!, plans.repeat(3) + last))).toEqual([200, 200, 200, 404])
    const text = await answers(narrow!, plans.repeat(40))
    expect(statusesOf(text)).toEqual([200, 503])
    expect(text).toContain('{"error":{"code":"ERR_BUSY","message":"expected at most 4 requests in flight')
  })

  it.each([
    [
      'HTTP/2',
      ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__'],
      true,
    ],
    ['HTTP/2, made as to a proxy,', ['proxy-connection: keep-alive, upgrade', 'upgrade: h2c'], true],
    ['a WebSocket, at a path that has none,', socketOffer.slice(0, 3), false],
    ['such a WebSocket, made as to a proxy,', ['proxy-connection: Upgrade', 'upgrade: websocket'], false],
  ])('are answered in order behind an offer of %s as without one', async (_, headers, takesBodies) => {
    const upload = (more: readonly string[]) =>
      requestText('POST /v1/topologies?format=no', [...more, 'content-length: 3'], '3x3')
    for (const at of [0, 1, 5, 18]) {
      const all = Array.from({ length: 19 }, (_, index) => {
        const more = index === at || index === at + 1 ? headers : []
        if (index % 2 === 0) return requestText('GET /healthz', more)
        return takesBodies ? upload(more) : requestText('GET /v1/plans', more)
      })
      const text = await answers(open!, all.join('') + last)
      const fields = [...text.matchAll(/\r\n\r\n\{"(\w+)"/g)].map(([, field]) => field)
      const odd = takesBodies ? 'error' : 'plans'
      expect(fields).toEqual([...all.map((_, index) => (index % 2 === 0 ? 'status' : odd)), 'error'])
    }
  })

  it('have a WebSocket begin after the answers ahead of it, also long ones that are not read yet', async () => {
    const client = asking(open!.service)
    const spec = 'moore:64x64:r=4'
    const uploaded = requestText('POST /v1/topologies?format=spec', [`content-length: ${spec.length}`], spec)
    const offer = requestText('GET /v1/worlds', socketOffer)
    const short = await rawConnection(open!.service.url, uploaded + plans + offer)
    while (!short.told().includes('HTTP/1.1 101')) await short.heard(/./)
    expect(statusesOf(short.told())).toEqual([201, 200, 101])

    const { body: topology } = await client.upload('moore:96x96:r=1', 'format=spec')
    const { body: job } = await client.plan({ topology: topology.id, strategy: 'direct' })
    await client.events(job.id)
    const path = `/v1/plans/${job.plan}/schedule`
    const whole = await (await client.get(path)).text()
    const long = await rawConnection(open!.service.url)
    // It reads nothing until the service cannot write.
    long.socket.pause()
    long.socket.write(requestText(`GET ${path}`) + offer)
    await client.get(path)
    long.socket.resume()
    while (!long.told().includes('HTTP/1.1 101')) await long.heard(/./)
    const braces = (text: string) => text.split('{').length
    expect(braces(long.told())).toBe(braces(whole))
    expect(statusesOf(long.told())).toEqual([200, 101])
    for (const { socket } of [short, long]) socket.destroy()
  })

  it('end where one that offers to upgrade wishes to close', async () => {
    const closing = requestText('GET /healthz', ['connection: close, Upgrade', 'upgrade: h2c'])
    expect(await answers(open!, closing)).toMatch(/connection: close/i)
  })
})

describe('the host of a request', () => {
  it.each([
    ['http://127.0.0.1/v1/plans', 'other', /{"plans":\[\],"next":null}/],
    ['HTTP://127.0.0.1?x', '127.0.0.1', /^HTTP\/1.1 (200|404) /],
    ['http://other/v1/plans', '127.0.0.1', /^HTTP\/1.1 403 [\s\S]*"code":"ERR_ORIGIN"/],
    ['http://other@127.0.0.1/v1/plans', '127.0.0.1', /^HTTP\/1.1 400 /],
    ['http://127.0.0.1@other/v1/plans', '127.0.0.1', /^HTTP\/1.1 400 /],
    ['http:///v1/plans', '127.0.0.1', /^HTTP\/1.1 400 /],
  ])(
    'is that of its absolute form, %s, not of its header (RFC 9112, section 3.2.2)',
    async (target, host, told) => {
      const text = `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`
      expect(await answers(narrow!, text)).toMatch(told)
    },
  )

  it.each([
    ['GET /v1/plans', 'connection: close'],
    ['GET /healthz', 'connection: close'],
    ['GET http://127.0.0.1/v1/plans', 'connection: close'],
    ['GET /v1/worlds', 'connection: upgrade', 'upgrade: websocket'],
  ])('of "%s" is named by exactly one header Host (RFC 9112, section 3.2)', async (start, ...more) => {
    const answer = (version: string, hosts: readonly string[]) =>
      answers(
        open!,
        [`${start} HTTP/${version}`, ...hosts.map((host) => `Host: ${host}`), ...more, '', ''].join('\r\n'),
      )
    const port = ['127.0.0.1:80:80', '127.0.0.1:x', ':80']
    const bad = ['', 'a b', 'a/b', 'u@127.0.0.1', ...port, '127.0.0.1%', '[::1', '[x]']
    for (const hosts of [
      [],
      ['127.0.0.1', '127.0.0.1'],
      ['127.0.0.1', 'other'],
      ...bad.map((host) => [host]),
    ]) {
      const told = await answer('1.1', hosts)
      expect(statusesOf(told), hosts.join()).toEqual([400])
      expect(told).toContain('"code":"ERR_ARGUMENT","message":"Host: expected ')
    }
    expect(statusesOf(await answer('1.0', []))).not.toEqual([400])
  })

  it.each(['/v1/worlds', '/v1/rendezvous', '/v1/worlds?x', '/v1/elsewhere'])(
    'counts for an offer of a WebSocket at %s as for other requests',
    async (path) => {
      const status = path === '/v1/elsewhere' ? 404 : 101
      for (const [target, expected] of [
        [path, status],
        [`http://127.0.0.1${path}`, status],
        [`http://other${path}`, 403],
      ] as const) {
        const { socket, heard } = await rawConnection(open!.service.url)
        socket.write(requestText(`GET ${target}`, socketOffer))
        expect(statusesOf(await heard(/HTTP/))).toEqual([expected])
        socket.destroy()
      }
    },
  )
})

describe('lists of a tenant that reads nothing', () => {
  const path = '/v1/topologies?limit=1000'

  it('occupy at most unreadBytes, on one connection and on six', async () => {
    const { service } = guarded!
    const [client, other] = [asking(service, ours), asking(service, theirs)]
    // Of three bytes each in UTF-8.
    const name = encodeURIComponent('\u20ac'.repeat(200))
    const upload = (ranks: number) => client.upload(`moore:${ranks}:r=1`, `format=spec&name=${name}`)
    await Promise.all(Array.from({ length: 60 }, (_, index) => upload(3 + index)))
    await Promise.all(Array.from({ length: 60 }, (_, index) => upload(63 + index)))
    const length = (await (await client.get(path)).arrayBuffer()).byteLength
    // One may be in memory, and no second one.
    expect(length).toBeGreaterThan(unreadBytes / 2)
    expect(length).toBeLessThan(unreadBytes)
    const request = requestText(`GET ${path}`, [`authorization: Bearer ${ours}`])
    for (const connections of [1, 6]) {
      const served = new Set<Socket>()
      const noted = (message: unknown) => void served.add((message as { readonly socket: Socket }).socket)
      subscribe('http.server.request.start', noted)
      const held: Socket[] = []
      for (let n = 0; n < connections; n++) {
        const { socket } = await rawConnection(service.url)
        socket.pause()
        socket.write(request.repeat(60))
        held.push(socket)
      }
      let status = 200
      while (status !== 503) {
        const answer = await client.json(path)
        status = answer.status
        const unread = [...served].reduce((bytes, socket) => bytes + socket.writableLength, 0)
        // Some 200 bytes of heads and refusals for each connection.
        expect(unread).toBeLessThan(unreadBytes + 1000 * connections)
        if (status === 503)
          expect(answer.body).toEqual({
            error: {
              code: 'ERR_BUSY',
              message: `expected at most ${unreadBytes} bytes of answers that were not read (unreadBytes)`,
            },
          })
      }
      unsubscribe('http.server.request.start', noted)
      expect((await other.json(path)).status).toBe(200)
      // What was not read no longer counts when it is read, or its connection is gone.
      for (const socket of held.slice(1)) socket.destroy()
      held[0]!.resume()
      while (status !== 200) status = (await client.json(path)).status
      held[0]!.destroy()
    }
  })
})
