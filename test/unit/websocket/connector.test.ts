import { expect, it } from 'vitest'
import { Connector, mostPutOff } from '../../../src/websocket/connector.js'
import { closeCode } from '../../../src/websocket/introduction.js'
import type { PeerListener } from '../../../src/websocket/peer-listener.js'
import { socketState } from '../../../src/websocket/socket/socket.js'
import { Network, type PairedSocket } from '../../support/socket-pair.js'
import { VirtualClock } from '../../support/virtual-clock.js'

const peerKeys = [null, new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const membership = { world: 'memory', process: 0, addresses: ['a', 'b', 'c'], peerKeys }

/** A connector of process 0, and what becomes of the connections that it dials. */
function connecting(dialed: (server: PairedSocket) => void = () => {}) {
  const clock = new VirtualClock()
  const network = new Network()
  const failures: string[] = []
  const dials: number[] = []
  const transport = {
    dial: () => {
      const [client, server] = network.pair()
      client.readyState = server.readyState = socketState.open
      dials.push(clock.now)
      dialed(server)
      return client
    },
  }
  const listener = { attach: () => {}, introduced: () => {} } as unknown as PeerListener
  const connector = new Connector(
    { membership, transport, listener, clock },
    {
      wants: () => true,
      awaits: () => true,
      connected: () => {},
      failed: (_, reason) => failures.push(reason),
    },
  )
  connector.listen()
  return { clock, network, connector, failures, dials }
}

it.each([
  ['late', closeCode.late, 1_600],
  ['superseded', closeCode.superseded, 1_600],
])('a peer that closes every connection as %s is not dialed without end', (_, code, longestMs) => {
  const { clock, network, connector, failures, dials } = connecting((server) => server.close(code, 'busy'))
  connector.dial(1)
  network.settle()
  for (let tried = 0; failures.length === 0 && tried < 10 * mostPutOff; tried++) {
    clock.pass(longestMs)
    network.settle()
  }
  expect(failures).toEqual([`cannot be reached after 100 connections that it put off (${code}): busy`])
  expect(dials.length).toBe(mostPutOff)
  clock.pass(10 * longestMs)
  network.settle()
  expect(dials.length).toBe(mostPutOff)
})

it('what a peer puts off does not count as a connection that has failed', () => {
  const codes = [closeCode.late, 1006, closeCode.late, 1006, closeCode.late]
  const { clock, network, connector, failures, dials } = connecting((server) => {
    const code = codes.shift()
    if (code !== undefined) server.close(code)
  })
  connector.dial(1)
  for (let tried = 0; tried < 10; tried++) {
    network.settle()
    clock.pass(1_600)
  }
  expect([dials.length, failures]).toEqual([6, []])
})

it.each([
  ['resets', { error: Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }) }],
  ['answers 408 to', { message: 'Unexpected server response: 408' }],
])('a peer that %s connections before their handshake has put them off', (_, error) => {
  let left = 5
  const { clock, network, connector, failures, dials } = connecting((server) => {
    if (left-- <= 0) return
    network.deliver(server, () => {
      server.peer.emit('error', error)
      server.peer.ended(1006, '')
    })
  })
  connector.dial(1)
  for (let tried = 0; tried < 10; tried++) {
    network.settle()
    clock.pass(1_600)
  }
  expect([dials.length, failures]).toEqual([6, []])
})
