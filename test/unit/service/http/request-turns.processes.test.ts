import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { startService } from '../../../support/service.js'

const ask = (path: string, ...headers: readonly string[]) =>
  [`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', ''].join('\r\n')

const dial = async (url: string) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** What the service writes until it closes. */
const whole = async (socket: Socket) => {
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  await once(socket, 'close')
  return text
}
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

it('the first request without its token ends the connection, whatever follows', async () => {
  const { service, end, lines } = await startService({ tokens: ['a'.repeat(32)] })
  const socket = await dial(service.url)
  socket.write(ask('/v1/plans').repeat(40))
  expect(statuses(await whole(socket))).toEqual([401])
  expect(lines.filter((line) => line.includes('"request"'))).toHaveLength(1)
  await end()
})

it('requests beyond those that a connection may have in flight end it with ERR_BUSY', async () => {
  const { service, end } = await startService({ limits: { connectionRequests: 4 } })
  const socket = await dial(service.url)
  socket.write(ask('/v1/plans').repeat(40))
  const text = await whole(socket)
  expect(statuses(text)).toEqual([200, 503])
  expect(text).toContain('{"error":{"code":"ERR_BUSY","message":"expected at most 4 requests in flight')
  await end()
})

it('as many as a connection may have in flight are answered in order', async () => {
  const { service, end } = await startService({ limits: { connectionRequests: 4 } })
  const socket = await dial(service.url)
  socket.write(ask('/v1/plans').repeat(3) + ask('/elsewhere', 'connection: close'))
  expect(statuses(await whole(socket))).toEqual([200, 200, 200, 404])
  await end()
})

it('of a request in absolute form its host counts, and the header does not (RFC 9112, section 3.2.2)', async () => {
  const { service, end } = await startService()
  const text = async (target: string, host: string) => {
    const socket = await dial(service.url)
    socket.write(`GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    return whole(socket)
  }
  expect(await text('http://127.0.0.1/v1/plans', 'other')).toContain('{"plans":[],"next":null}')
  expect(await text('HTTP://127.0.0.1?x', '127.0.0.1')).toMatch(/^HTTP\/1.1 (200|404) /)
  const told = await text('http://other/v1/plans', '127.0.0.1')
  expect(told).toMatch(/^HTTP\/1.1 403 /)
  expect(told).toContain('"code":"ERR_ORIGIN"')
  for (const authority of ['other@127.0.0.1', '127.0.0.1@other', '']) {
    const refused = await text(`http://${authority}/v1/plans`, '127.0.0.1')
    expect(refused, authority).toMatch(/^HTTP\/1.1 400 /)
  }
  await end()
})

it.each([
  ['GET /v1/plans'],
  ['GET /healthz'],
  ['GET http://127.0.0.1/v1/plans'],
  ['GET /v1/worlds', 'connection: upgrade', 'upgrade: websocket'],
])(
  '"%s" gets 400 without exactly one header Host that names a host (RFC 9112, section 3.2)',
  async (start, ...more) => {
    const { service, end } = await startService()
    const answer = async (version: string, ...hosts: readonly string[]) => {
      const socket = await dial(service.url)
      const headers = hosts.map((host) => `Host: ${host}`)
      const close = more.length === 0 ? ['connection: close'] : more
      socket.write([`${start} HTTP/${version}`, ...headers, ...close, '', ''].join('\r\n'))
      return whole(socket)
    }
    const bad = [
      '',
      ':80',
      'a b',
      'a/b',
      'u@127.0.0.1',
      '127.0.0.1:80:80',
      '127.0.0.1:x',
      '127.0.0.1%',
      '[::1',
      '[x]',
    ]
    const lists = [[], ['127.0.0.1', '127.0.0.1'], ['127.0.0.1', 'other'], ...bad.map((host) => [host])]
    for (const hosts of lists) {
      const told = await answer('1.1', ...hosts)
      expect(statuses(told), hosts.join()).toEqual([400])
      expect(told).toContain('"code":"ERR_ARGUMENT","message":"Host: expected ')
    }
    expect(statuses(await answer('1.0'))).not.toEqual([400])
    await end()
  },
)

it('an offer of a WebSocket in absolute form is taken up as in origin form, by the host of its target', async () => {
  const { service, end } = await startService()
  const offer = (target: string) =>
    ask(
      target,
      ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    )
  const first = async (target: string) => {
    const socket = await dial(service.url)
    socket.write(offer(target))
    const [piece] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return statuses(piece.toString())
  }
  for (const path of ['/v1/worlds', '/v1/rendezvous', '/v1/worlds?x']) {
    expect(await first(path)).toEqual([101])
    expect(await first(`http://127.0.0.1${path}`)).toEqual([101])
    expect(await first(`http://other${path}`)).toEqual([403])
  }
  expect(await first('http://127.0.0.1/v1/elsewhere')).toEqual([404])
  await end()
})
