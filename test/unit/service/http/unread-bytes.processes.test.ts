import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { asking, startService } from '../../../support/service.js'

const [ours, theirs] = ['a'.repeat(32), 'b'.repeat(32)]
const path = '/v1/topologies?limit=1000'

/** A connection that has asked for so many lists, and reads nothing. */
async function silent(url: string, lists: number): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  const request = [`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', `authorization: Bearer ${ours}`, '', '']
  socket.write(request.join('\r\n').repeat(lists))
  return socket
}

it.each([1, 6])(
  'lists of a tenant that reads nothing on %s connections occupy at most unreadBytes',
  async (connections) => {
    const unreadBytes = 400_000
    const { service, end } = await startService({ tokens: [ours, theirs], limits: { unreadBytes } })
    const [client, other] = [asking(service, ours), asking(service, theirs)]
    // Of three bytes each in UTF-8.
    const name = encodeURIComponent('\u20ac'.repeat(200))
    const upload = (ranks: number) => client.upload(`moore:${ranks}:r=1`, `format=spec&name=${name}`)
    for (let first = 3; first < 303; first += 30)
      await Promise.all(Array.from({ length: 30 }, (_, index) => upload(first + index)))
    const length = (await (await client.get(path)).arrayBuffer()).byteLength
    // One may be in memory, and no second one.
    expect(length).toBeGreaterThan(unreadBytes / 2)
    expect(length).toBeLessThan(unreadBytes)
    const served = new Set<Socket>()
    const noted = (message: unknown) => void served.add((message as { readonly socket: Socket }).socket)
    subscribe('http.server.request.start', noted)
    const held = await Promise.all(Array.from({ length: connections }, () => silent(service.url, 60)))
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
    await end()
  },
)
