import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { cutTogetherAfter, TcpProxy } from '../support/faults/tcp-proxy.js'

let server: WebSocketServer
let target: string
/** The paths that connections asked for. */
let paths: string[]
let proxy: TcpProxy | undefined

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
  target = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/there?a=1`
  paths = []
  server.on('connection', (_, { url }) => void paths.push(url!))
})

afterEach(async () => {
  await proxy?.close()
  proxy = undefined
  for (const client of server.clients) client.terminate()
  server.close()
})

/** Both ends of a connection through the proxy. */
async function connected(link = 'a') {
  const client = new WebSocket(proxy!.through(target, link), { perMessageDeflate: false })
  const closed = once(client, 'close')
  client.on('error', () => {})
  const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'open')])
  socket.on('error', () => {})
  return { client, socket, closed, connection: proxy!.connections(link)[0] }
}

const nextMessage = async (socket: WebSocket) => String((await once(socket, 'message'))[0])
const turns = async (count: number) => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

describe('the proxy of bytes', () => {
  it('passes messages both ways, to the target that the dialer named', async () => {
    proxy = await TcpProxy.start()
    const { client, socket, connection } = await connected('3-1')
    expect(connection.link).toBe('3-1')
    expect(paths).toEqual(['/there?a=1'])
    client.send('to server')
    expect(await nextMessage(socket)).toBe('to server')
    const big = Buffer.alloc(2 ** 20, 7)
    socket.send(big)
    expect((await once(client, 'message'))[0].equals(big)).toBe(true)
    expect(connection.toClient.passedBytes).toBeGreaterThan(big.length)
  })

  it('leads to its own target where none is named, and refuses where it has none', async () => {
    proxy = await TcpProxy.start({ target })
    const client = new WebSocket(proxy.url)
    await once(client, 'open')
    await proxy.close()
    proxy = await TcpProxy.start()
    const refused = new WebSocket(proxy.url)
    expect((await once(refused, 'error'))[0]).toBeInstanceOf(Error)
  })

  it('delays every byte, and keeps the order', async () => {
    proxy = await TcpProxy.start({ latencyMs: 20 })
    const { client, socket } = await connected()
    const begin = performance.now()
    client.send('1')
    client.send('2')
    const heard: string[] = []
    await new Promise<void>((resolve) => {
      socket.on('message', (data: unknown) => heard.push(String(data)) === 2 && resolve())
    })
    expect(heard).toEqual(['1', '2'])
    // Less than the latency cannot have passed, however quick the machine is; timers are precise to a
    // millisecond.
    expect(performance.now() - begin).toBeGreaterThan(18)
  })

  it('passes nothing, no end either, while half open; then all of it', async () => {
    proxy = await TcpProxy.start()
    const { client, socket, closed, connection } = await connected()
    connection.stall()
    let heard = 0
    client.on('message', () => void heard++)
    socket.send('held')
    socket.terminate()
    await once(socket, 'close')
    await turns(100)
    expect([heard, client.readyState]).toEqual([0, WebSocket.OPEN])
    connection.resume()
    const [code] = await closed
    expect([code, heard]).toEqual([1006, 1])
  })

  it('holds back who sends to a half-open connection, as a full network does', async () => {
    proxy = await TcpProxy.start()
    const { client, connection } = await connected()
    connection.stall()
    const piece = Buffer.alloc(2 ** 20)
    for (let n = 0; n < 32; n++) client.send(piece)
    await turns(200)
    // The system's buffers take some.
    expect(client.bufferedAmount).toBeGreaterThan(8 * 2 ** 20)
  })

  it('loses a connection: both ends learn it at once', async () => {
    proxy = await TcpProxy.start()
    const one = await connected('a')
    const other = await connected('b')
    const told = once(one.socket, 'close')
    one.connection.cut()
    expect((await one.closed)[0]).toBe(1006)
    expect((await told)[0]).toBe(1006)
    other.client.send('untouched')
    expect(await nextMessage(other.socket)).toBe('untouched')
  })

  it('ends a stream in the middle of a message, and with it those on which nothing passes', async () => {
    proxy = await TcpProxy.start()
    const { client, socket, connection, closed } = await connected('a')
    const idle = await connected('b')
    let heard = 0
    socket.on('message', () => void heard++)
    const told = [socket, idle.socket].map((each) => once(each, 'close'))
    cutTogetherAfter([connection, idle.connection], 5000)
    client.send(Buffer.alloc(4000))
    client.send(Buffer.alloc(4000))
    const ends = await Promise.all([...told, closed, idle.closed])
    expect(ends.map(([code]) => code)).toEqual([1006, 1006, 1006, 1006])
    expect(heard).toBe(1)
  })

  it('reads slowly: the sender keeps what the reader does not take', async () => {
    proxy = await TcpProxy.start()
    const { client, connection } = await connected()
    connection.toServer.slowTo(1000)
    const piece = Buffer.alloc(2 ** 20)
    for (let n = 0; n < 32; n++) client.send(piece)
    await turns(200)
    expect(client.bufferedAmount).toBeGreaterThan(8 * 2 ** 20)
    expect(connection.toServer.passedBytes).toBeLessThan(2 ** 20)
  })

  it('closes one end when the other one closes, after what was sent before', async () => {
    proxy = await TcpProxy.start({ latencyMs: 5 })
    const { client, socket } = await connected()
    const heard: string[] = []
    socket.on('message', (data: unknown) => void heard.push(String(data)))
    client.send('last')
    client.close(4001, 'enough')
    const [code, reason] = await once(socket, 'close')
    expect([heard, code, String(reason)]).toEqual([['last'], 4001, 'enough'])
  })
})
