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
  for (const authority of ['other', 'other@127.0.0.1', '127.0.0.1@other', '']) {
    const told = await text(`http://${authority}/v1/plans`, '127.0.0.1')
    expect(told, authority).toMatch(/^HTTP\/1.1 403 /)
    expect(told).toContain('"code":"ERR_ORIGIN"')
  }
  await end()
})
