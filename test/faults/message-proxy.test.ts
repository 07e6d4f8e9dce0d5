import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { seededRandom } from '../../src/base/random.js'
import {
  bitInverted,
  lost,
  type MessageFault,
  onLink,
  overtaken,
  passAll,
  repeated,
  someMessages,
  theMessage,
  truncated,
} from '../support/faults/message-faults.js'
import { MessageProxy } from '../support/faults/message-proxy.js'

let server: WebSocketServer
let proxy: MessageProxy | undefined

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
})

afterEach(async () => {
  await proxy?.close()
  proxy = undefined
  for (const client of server.clients) client.terminate()
  server.close()
})

/**
 * What the server hears of messages sent through a fault on link `a`, or another one; and the code of the
 * end.
 */
async function through(fault: MessageFault, messages: readonly string[], link = 'a'): Promise<string[]> {
  proxy = await MessageProxy.start({ fault })
  const target = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const heard: string[] = []
  const ended = new Promise<number>((resolve) => {
    server.once('connection', (socket) => {
      socket.on('message', (data) => void heard.push(String(data)))
      socket.once('close', resolve)
    })
  })
  const client = new WebSocket(proxy.through(target, link))
  await once(client, 'open')
  for (const message of messages) client.send(Buffer.from(message))
  client.close(4002)
  expect(await ended).toBe(4002)
  return heard
}

const four = ['one', 'two', 'three', 'four']
const second = theMessage('to server', 1)

describe('the proxy of messages', () => {
  const faults: readonly (readonly [string, MessageFault, readonly string[]])[] = [
    ['passes all', passAll, four],
    ['loses one', lost(second), ['one', 'three', 'four']],
    ['repeats one', repeated(second), ['one', 'two', 'two', 'three', 'four']],
    ['truncates one', truncated(theMessage('to server', 2), 3), ['one', 'two', 'thr', 'four']],
    ['cuts at least a byte', truncated(second, 99), ['one', 'tw', 'three', 'four']],
    ['lets the next one overtake', overtaken(second), ['one', 'three', 'two', 'four']],
    ['leaves other links alone', onLink('b', lost(second)), four],
  ]
  it.each(faults)('%s', async (_, fault, heard) => {
    expect(await through(fault, four)).toEqual(heard)
    expect(proxy!.changed > 0).toBe(heard !== four)
  })

  it('inverts one bit', async () => {
    const [text] = await through(bitInverted(theMessage('to server', 0), seededRandom(1)), ['@@@@@@@@'])
    const differing = [...text].map((char) => char.charCodeAt(0) ^ 64).filter((bits) => bits !== 0)
    expect(differing).toHaveLength(1)
    expect(Math.log2(differing[0]) % 1).toBe(0)
  })

  it('chooses the same messages for the same seed', async () => {
    const messages = Array.from({ length: 50 }, (_, n) => String(n))
    const some = (seed: number) => lost(someMessages(seededRandom(seed), 0.2, 10))
    const heard = await through(some(7), messages)
    await proxy!.close()
    expect(await through(some(7), messages)).toEqual(heard)
    expect(heard.slice(0, 10)).toEqual(messages.slice(0, 10))
    expect(heard.length).toBeLessThan(50)
  })

  it('passes text as text, and answers the other way', async () => {
    proxy = await MessageProxy.start({
      target: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      fault: passAll,
    })
    server.once('connection', (socket) => {
      socket.on('message', (data, isBinary) => socket.send(`${isBinary} ${data}`))
    })
    const client = new WebSocket(proxy.url)
    await once(client, 'open')
    client.send('text')
    expect(String((await once(client, 'message'))[0])).toBe('false text')
  })
})
