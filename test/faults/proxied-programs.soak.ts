import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { ProxiedPrograms } from '../support/faults/proxied-programs.js'
import { TcpProxy } from '../support/faults/tcp-proxy.js'

const listening = `
  const { WebSocketServer } = require('ws')
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => console.log(server.address().port))
  server.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))`

/** Also in a worker, as heartbeats are sent. */
const dialing = (port: string) => `
  const { Worker } = require('node:worker_threads')
  const dial = \`
    const { WebSocket } = require('ws')
    const socket = new WebSocket('ws://127.0.0.1:${port}/')
    socket.on('open', () => socket.send('hello'))
    socket.on('message', (data) => console.log(String(data)))
    socket.on('close', () => console.log('closed'))\`
  new Worker(dial, { eval: true })
  eval(dial)`

it('connections of programs pass the proxy, named by their processes, those of workers too', async () => {
  const proxy = await TcpProxy.start()
  const programs = await ProxiedPrograms.start(proxy)
  const start = (code: string) => {
    const child = spawn(process.execPath, [...programs.execArgv, '--eval', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return { child, lines: lines(child.stdout) }
  }
  const server = start(listening)
  const client = start(dialing((await server.lines.next()).value!))
  expect([(await client.lines.next()).value, (await client.lines.next()).value]).toEqual(['hello', 'hello'])
  const connections = proxy.connections()
  const link = { dialer: client.child.pid, listener: server.child.pid }
  expect(connections.map((connection) => programs.linkOf(connection))).toEqual([link, link])
  for (const connection of connections) connection.cut()
  expect([(await client.lines.next()).value, (await client.lines.next()).value]).toEqual(['closed', 'closed'])
  const ended = once(server.child, 'close')
  server.child.kill()
  await ended
  await programs.close()
  await proxy.close()
})

async function* lines(stream: AsyncIterable<Buffer>): AsyncGenerator<string, undefined> {
  let text = ''
  for await (const chunk of stream) {
    const parts = `${text}${String(chunk)}`.split('\n')
    text = parts.pop()!
    yield* parts
  }
  return undefined
}
