import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { socketState } from '../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../src/websocket/socket/transport-nodejs.js'

const request = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

it('a listener reads a request that came while its process computed for 12 s', async () => {
  const transport = nodeTransport({ maxMessageBytes: 100 })
  const listener = await transport.listen!(() => {})
  const early = connect(Number(new URL(listener.url).port), '127.0.0.1')
  await new Promise((resolve) => early.once('connect', resolve))
  // Connections are accepted in their order.
  const later = transport.dial(listener.url)
  await new Promise<void>((resolve) => later.addEventListener('open', resolve))
  early.write(`${request.join('\r\n')}\r\n\r\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000)
  const answer = await new Promise<string>((resolve) => early.once('data', (bytes) => resolve(String(bytes))))
  expect(answer).toMatch(/^HTTP\/1.1 101 /)
  expect(later.readyState).toBe(socketState.open)
  early.destroy()
  later.terminate?.()
  await listener.close()
})
