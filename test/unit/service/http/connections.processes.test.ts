import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { Connections } from '../../../../src/service/http/connections.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { rawConnection, requestText, socketOffer, statusesOf } from '../../../support/raw-connection.js'
import { startService } from '../../../support/service.js'

const token = 'a'.repeat(32)
const tokens = [token]
const opened = (url: string, count: number, text = '') =>
  Promise.all(Array.from({ length: count }, () => rawConnection(url, text)))

/** Asks until the service has a place for another connection. */
async function untilServed(url: string): Promise<void> {
  for (;;) {
    const { whole } = await rawConnection(url, requestText('GET /healthz', ['connection: close']))
    if ((await whole()).startsWith('HTTP/1.1 200 ')) return
  }
}

const upgrade = (path: string, origin: string) =>
  requestText(`GET ${path}`, [`origin: ${origin}`, ...socketOffer])

describe('a connection that the service has given up is destroyed, though its client never closes', () => {
  const upload = ['content-length: 9']
  it.each([
    ['sends nothing', '', 408],
    ['sends half a header', 'GET /v1/plans HTTP/1.1\r\nhost: 127', 408],
    ['sends half a body', requestText('POST /v1/topologies?format=edges', upload, '0 1'), 408],
    ['sends no HTTP', 'no such thing\r\n\r\n', 400],
    ['asks for a WebSocket as a page of another origin', upgrade('/v1/worlds', 'http://evil.example'), 403],
    ['asks for a WebSocket elsewhere', upgrade('/v1/elsewhere', 'http://127.0.0.1'), 404],
  ])('one that %s', async (_, text, status) => {
    const { service, end } = await startService({
      limits: { connections: 4, ...(status === 408 ? { requestMs: 100 } : {}) },
    })
    const silent = await opened(service.url, 4, text)
    await untilServed(service.url)
    for (const { whole } of silent) {
      const told = await whole()
      expect(statusesOf(told)).toEqual([status])
      expect(told).toMatch(/\r\n\r\n\{"error":\{"code":"ERR_\w+","message":"/)
    }
    await end()
  })
})

it.each([
  ['CONNECT', 'CONNECT 10.0.0.1:443 HTTP/1.1\r\nhost: 10.0.0.1:443\r\n\r\n', 404, 'ERR_NOT_FOUND'],
  [
    'an expectation',
    requestText('POST /v1/topologies', ['expect: 200-ok', 'content-length: 9']),
    417,
    'ERR_ARGUMENT',
  ],
  [
    'an expectation beside 100-continue',
    requestText('POST /v1/topologies', ['expect: 100-continue, foo', 'content-length: 9']),
    417,
    'ERR_ARGUMENT',
  ],
  [
    'a WebSocket without a key',
    requestText(
      'GET /v1/worlds',
      socketOffer.filter((header) => !/^sec-websocket-key/i.test(header)),
    ),
    400,
    'ERR_ARGUMENT',
  ],
  [
    'a WebSocket by POST',
    requestText('POST /v1/worlds', ['connection: upgrade, close', 'upgrade: websocket', 'content-length: 0']),
    405,
    'ERR_NOT_FOUND',
  ],
])(
  '%s is refused with a code, after the answer to what came before, and ends the connection',
  async (_, text, status, code) => {
    const { service, end } = await startService()
    const { whole } = await rawConnection(service.url, requestText('GET /v1/plans') + text)
    const told = await whole()
    expect(statusesOf(told)).toEqual([200, status])
    expect(told).toContain(`\r\n\r\n{"error":{"code":"${code}","message":"`)
    await end()
  },
)

it('100-continue alone is met before the body is read', async () => {
  const { service, end } = await startService()
  const headers = ['expect: 100-continue', 'content-length: 4', 'connection: close']
  const { whole } = await rawConnection(
    service.url,
    requestText('POST /v1/topologies?format=edges', headers, '0 1\n'),
  )
  expect(statusesOf(await whole())).toEqual([100, 201])
  await end()
})

describe('places of connections', () => {
  it('strangers leave a place to one who says a token, and cannot take it from that one', async () => {
    const { service, end } = await startService({ tokens, limits: { connections: 8 } })
    const strangers = await opened(service.url, 8)
    const tenant = await rawConnection(service.url)
    const listed = (name: string) => {
      tenant.socket.write(requestText(`GET /v1/${name}`, [`authorization: Bearer ${token}`]))
      return tenant.heard(`{"${name}":\\[\\],"next":null}`)
    }
    await listed('plans')
    const gone = strangers.map(({ whole }) => whole())
    strangers.push(...(await opened(service.url, 20)))
    await Promise.all(gone)
    await listed('topologies')
    for (const { socket } of [...strangers, tenant]) socket.destroy()
    await end()
  })

  it.each([undefined, loopbackTls])('a WebSocket that has said its token keeps its place', async (tls) => {
    const secured = tls === undefined ? {} : { tls }
    const { service, end } = await startService({ tokens, limits: { connections: 4 }, ...secured })
    const member = new WebSocket(`${service.url.replace('http', 'ws')}/v1/worlds`, { ca: tls?.cert })
    await once(member, 'open')
    member.send(JSON.stringify({ id: 1, kind: 'hello', protocol: 1, token }))
    await once(member, 'message')
    const strangers = await opened(service.url, 12)
    await Promise.all(strangers.slice(0, 9).map(({ whole }) => whole()))
    member.send(JSON.stringify({ id: 2, kind: 'watch' }))
    expect(String(await once(member, 'message'))).toContain('"reply":2')
    member.terminate()
    for (const { socket } of strangers) socket.destroy()
    await end()
  })

  it('one address has so many, whatever the others have', async () => {
    const connections = new Connections({ connections: 100, addressConnections: 2 }, false)
    const server = createServer({ allowHalfOpen: true })
    const addresses = ['203.0.113.7', '203.0.113.7', '::ffff:203.0.113.7', '203.0.113.8', '127.0.0.1']
    const arrived: Socket[] = []
    server.on('connection', (socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: addresses[arrived.length] ?? addresses[0] })
      arrived.push(socket)
    })
    connections.watch(server as Server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const clients: Socket[] = []
    const dial = async () => {
      const seen = once(server, 'connection')
      clients.push((await rawConnection(url)).socket)
      await seen
    }
    for (const _ of addresses) await dial()
    expect(arrived.map(({ destroyed }) => destroyed)).toEqual([false, false, true, false, false])
    const closed = once(arrived[0]!, 'close')
    arrived[0]!.destroy()
    await closed
    await dial()
    expect(arrived.at(-1)!.destroyed).toBe(false)
    for (const socket of [...clients, ...arrived]) socket.destroy()
    server.close()
  })

  it('are bounded in all, and a socket of a member that does not answer pings is ended', async () => {
    const pingClock = new ManualClock()
    const { service, end } = await startService({ limits: { connections: 8 }, pingClock })
    const flood = await opened(service.url, 30)
    let cut = 0
    await new Promise<void>((resolve) => {
      for (const { socket } of flood) {
        const ended = () => ++cut === 22 && resolve()
        if (socket.readableEnded) ended()
        else socket.once('end', ended)
      }
    })
    for (const { socket } of flood) socket.destroy()
    await untilServed(service.url)
    const url = `${service.url.replace('http:', 'ws:')}/v1/worlds`
    const [answers, silent] = [new WebSocket(url), new WebSocket(url, { autoPong: false })]
    const replied = (socket: WebSocket) => once(socket, 'message')
    for (const socket of [answers, silent])
      socket.on('open', () => socket.send(JSON.stringify({ id: 1, kind: 'hello', protocol: 1 })))
    await Promise.all([answers, silent].map(replied))
    const gone = once(silent, 'close')
    for (let round = 0; round < 3; round++) {
      // A member may miss one ping: two unanswered ones end it when the third is due.
      if (round < 2) expect(silent.readyState).toBe(WebSocket.OPEN)
      const pinged = once(answers, 'ping')
      pingClock.pass()
      await pinged
      // Its answer to the ping has come when its next call is answered.
      answers.send(JSON.stringify({ id: round + 2, kind: 'watch' }))
      await replied(answers)
    }
    await gone
    expect(answers.readyState).toBe(WebSocket.OPEN)
    answers.close()
    await end()
  })
})

it('the service ends though clients hold half a header, a refused socket and half a TLS handshake', async () => {
  for (const tls of [undefined, loopbackTls]) {
    const { service, end } = await startService(tls === undefined ? {} : { tls })
    const texts = ['', 'GET / HTTP/1.1\r\nhost: ', upgrade('/v1/elsewhere', 'http://127.0.0.1')]
    const held = await Promise.all(texts.map((text) => rawConnection(service.url, text)))
    await end()
    for (const { socket } of held) socket.destroy()
  }
})
