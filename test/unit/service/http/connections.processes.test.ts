import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { Connections } from '../../../../src/service/http/connections.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { asking, startService } from '../../../support/service.js'

const token = 'a'.repeat(32)

/** A connection that never closes its side, whatever the service does, and what it has been told. */
async function opened(url: string, text: string) {
  const { port } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  let told = ''
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    told += piece
  })
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return { socket, told: () => told }
}

/** Asks until the service has a place for another connection. */
async function served(url: string): Promise<void> {
  const isThere = async () => {
    const { socket, told } = await opened(url, 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
    await new Promise<void>((resolve) => {
      for (const event of ['data', 'end', 'close']) socket.once(event, resolve)
    })
    socket.destroy()
    return told().startsWith('HTTP/1.1 200 ')
  }
  while (!(await isThere()));
}

const offer = (path: string, origin: string, host = new URL(origin).host) =>
  [
    `GET ${path} HTTP/1.1`,
    ...[`host: ${host}`, `origin: ${origin}`, 'connection: Upgrade', 'upgrade: websocket'],
    ...['sec-websocket-version: 13', 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==', '', ''],
  ].join('\r\n')

describe('a connection that the service has given up is destroyed, though its client never closes', () => {
  it.each([
    ['sends nothing', '', 408],
    ['sends half a header', 'GET /v1/plans HTTP/1.1\r\nhost: 127', 408],
    ['sends no HTTP', 'no such thing\r\n\r\n', 400],
    [
      'asks for a WebSocket as a page of another origin',
      offer('/v1/worlds', 'http://evil.example', '127.0.0.1'),
      403,
    ],
    ['asks for a WebSocket elsewhere', offer('/v1/elsewhere', 'http://127.0.0.1'), 404],
  ])('one that %s', async (_, text, status) => {
    const { service, end } = await startService({ limits: { connections: 4, requestMs: 100 } })
    const silent = await Promise.all(Array.from({ length: 4 }, () => opened(service.url, text)))
    await served(service.url)
    for (const { socket, told } of silent) {
      expect(told()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      socket.destroy()
    }
    await end()
  })
})

describe('places of connections', () => {
  const tokens = [token]

  it('strangers leave a place to one who says a token, and cannot take it from that one', async () => {
    const { service, end } = await startService({ tokens, limits: { connections: 8 } })
    const ask = (path: string) =>
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`
    const silent = async () => (await opened(service.url, '')).socket
    const strangers = await Promise.all(Array.from({ length: 8 }, silent))
    const answer = async (path: string, { socket, told }: Awaited<ReturnType<typeof opened>>) => {
      const before = told().length
      socket.write(ask(path))
      while (told().length === before) await once(socket, 'data')
      return told().slice(before)
    }
    const tenant = await opened(service.url, '')
    expect(await answer('/v1/plans', tenant)).toContain('{"plans":[],"next":null}')
    const gone = strangers.map((socket) => socket.readableEnded || once(socket, 'end'))
    strangers.push(...(await Promise.all(Array.from({ length: 20 }, silent))))
    await Promise.all(gone)
    expect(await answer('/v1/topologies', tenant)).toContain('{"topologies":[],"next":null}')
    for (const socket of [...strangers, tenant.socket]) socket.destroy()
    await end()
  })

  it.each([undefined, loopbackTls])('a WebSocket that has said its token keeps its place', async (tls) => {
    const secured = tls === undefined ? {} : { tls }
    const { service, end } = await startService({ tokens, limits: { connections: 4 }, ...secured })
    const member = new WebSocket(`${service.url.replace('http', 'ws')}/v1/worlds`, { ca: tls?.cert })
    await once(member, 'open')
    member.send(JSON.stringify({ id: 1, kind: 'hello', protocol: 1, token }))
    await once(member, 'message')
    const strangers = await Promise.all(Array.from({ length: 12 }, () => opened(service.url, '')))
    await Promise.all(strangers.slice(0, 9).map(({ socket }) => socket.readableEnded || once(socket, 'end')))
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
    const dial = async () => {
      const seen = once(server, 'connection')
      const { socket } = await opened(url, '')
      await seen
      return socket
    }
    const clients: Socket[] = []
    for (const _ of addresses) clients.push(await dial())
    expect(arrived.map(({ destroyed }) => destroyed)).toEqual([false, false, true, false, false])
    const closed = once(arrived[0]!, 'close')
    arrived[0]!.destroy()
    await closed
    clients.push(await dial())
    expect(arrived.at(-1)!.destroyed).toBe(false)
    for (const socket of [...clients, ...arrived]) socket.destroy()
    server.close()
  })

  it('the service ends though clients hold half a header, a refused socket and half a TLS handshake', async () => {
    for (const tls of [undefined, loopbackTls]) {
      const { service, end } = await startService(tls === undefined ? {} : { tls })
      const texts = ['', 'GET / HTTP/1.1\r\nhost: ', offer('/v1/elsewhere', 'http://127.0.0.1')]
      const held = await Promise.all(texts.map((text) => opened(service.url, text)))
      await end()
      for (const { socket } of held) socket.destroy()
    }
  })
})

describe('requests behind an offer to upgrade', () => {
  const request = (method: string, path: string, headers: readonly string[] = [], body = '') =>
    [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', body].join('\r\n')
  const h2c = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__']
  const socketOffer = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
  const last = request('GET', '/last', ['connection: close'])
  const statuses = (text: string) =>
    [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

  it.each([
    ['HTTP/2', h2c],
    ['HTTP/2, made as to a proxy,', ['proxy-connection: keep-alive, upgrade', 'upgrade: h2c']],
    ['a WebSocket, at a path that has none,', socketOffer],
    ['such a WebSocket, made as to a proxy,', ['proxy-connection: Upgrade', 'upgrade: websocket']],
  ])('for %s are answered in order', async (_, headers) => {
    const { service, end } = await startService()
    for (const at of [0, 1, 5, 18]) {
      const all = Array.from({ length: 19 }, (_, index) =>
        request(
          'GET',
          index % 2 === 0 ? '/healthz' : '/v1/plans',
          index === at || index === at + 1 ? headers : [],
        ),
      )
      const { socket, told } = await opened(service.url, all.join('') + last)
      await once(socket, 'end')
      expect(statuses(told())).toEqual([...all.map(() => 200), 404])
      const types = [...told().matchAll(/\r\n\r\n\{"(\w+)"/g)].map(([, field]) => field)
      expect(types).toEqual([...all.map((_, index) => (index % 2 === 0 ? 'status' : 'plans')), 'error'])
      socket.destroy()
    }
    await end()
  })

  it('a WebSocket begins after the answers ahead of it', async () => {
    const { service, end } = await startService()
    const spec = 'moore:64x64:r=4'
    const upload = request('POST', '/v1/topologies?format=spec', [`content-length: ${spec.length}`], spec)
    const { socket, told } = await opened(
      service.url,
      upload + request('GET', '/v1/topologies') + offer('/v1/worlds', service.url),
    )
    while (!told().includes('HTTP/1.1 101')) await once(socket, 'data')
    expect(statuses(told())).toEqual([201, 200, 101])
    socket.destroy()
    await end()
  })

  it('a WebSocket begins after an answer that is longer than the buffers of the connection', async () => {
    const { service, end } = await startService()
    const client = asking(service)
    const { body: topology } = await client.upload('moore:64x64:r=3', 'format=spec')
    const { body: job } = await client.plan({ topology: topology.id, k: 4 })
    await client.events(job.id)
    const path = `/v1/plans/${job.plan}/schedule`
    const whole = await (await client.get(path)).text()
    const { socket, told } = await opened(service.url, '')
    // It reads nothing until the service cannot write.
    socket.pause()
    socket.write(request('GET', path) + offer('/v1/worlds', service.url))
    await client.get(path)
    socket.resume()
    while (!told().includes('HTTP/1.1 101')) await once(socket, 'data')
    const braces = (text: string) => text.split('{').length
    expect(braces(told())).toBe(braces(whole))
    expect(statuses(told())).toEqual([200, 101])
    socket.destroy()
    await end()
  })

  it('an offer keeps the wish of its client to close', async () => {
    const { service, end } = await startService()
    const { socket, told } = await opened(
      service.url,
      request('GET', '/healthz', ['connection: close, Upgrade', 'upgrade: h2c']),
    )
    await once(socket, 'end')
    expect(told()).toMatch(/connection: close/i)
    socket.destroy()
    await end()
  })
})
