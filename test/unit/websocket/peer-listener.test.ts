import { describe, expect, it } from 'vitest'
import { pollsAfterLimit } from '../../../src/base/clock.js'
import { laterTurn } from '../../../src/base/turn.js'
import { closeCode, encodeIntroduction, newNonce } from '../../../src/websocket/introduction.js'
import { mostStrangers, PeerListener } from '../../../src/websocket/peer-listener.js'
import { introductionMs, type Socket, socketState } from '../../../src/websocket/socket/socket.js'
import { Network } from '../../support/socket-pair.js'
import { VirtualClock } from '../../support/virtual-clock.js'

const polls = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await laterTurn()
}

/** A listener, and what dials it. */
async function listening() {
  const clock = new VirtualClock()
  const network = new Network()
  let accept!: (socket: Socket, remote: string) => void
  const listen = async (accepts: typeof accept) => {
    accept = accepts
    return { url: 'memory', close: async () => {} }
  }
  const listener = await PeerListener.open({ listen }, clock)
  /** A connection that says nothing. */
  const connect = (address = '127.0.0.1') => {
    const [client, server] = network.pair()
    client.readyState = server.readyState = socketState.open
    const codes: number[] = []
    client.addEventListener('close', ({ code }: { readonly code: number }) => codes.push(code))
    accept(server, address)
    const greet = () => {
      const hello = { kind: 'hello', version: 1, world: 'memory', from: 1, to: 0, nonce: newNonce() } as const
      client.send(encodeIntroduction<'hello'>(hello))
      network.settle()
    }
    return { client, server, codes, greet }
  }
  const dial = (address?: string) => {
    const dialed = connect(address)
    dialed.greet()
    return dialed
  }
  return { clock, network, listener, connect, dial }
}

it('forgets connections that have gone before the session opens', async () => {
  const { network, listener, dial } = await listening()
  for (let n = 0; n < 100; n++) {
    dial().client.close()
    network.settle()
  }
  dial()
  let greeted = 0
  listener.attach(() => greeted++)
  expect(greeted).toBe(1)
})

it('closes as late what does not say hello in time, or does not prove it in as much time again', async () => {
  const { clock, network, connect } = await listening()
  const [silent, slow] = [connect(), connect()]
  clock.pass(introductionMs - 1)
  slow.greet()
  clock.pass(1)
  await polls(pollsAfterLimit)
  network.settle()
  expect([silent.codes, slow.codes]).toEqual([[closeCode.late], []])
  clock.pass(introductionMs)
  await polls(pollsAfterLimit)
  network.settle()
  expect(slow.codes).toEqual([closeCode.late])
})

it('reads a hello, then a proof, that each take turns of the event loop after their time is over', async () => {
  const { clock, network, connect, listener } = await listening()
  let greeted = 0
  listener.attach(() => greeted++)
  const { greet, codes, server } = connect()
  // A slice of computing is longer than any limit: each turn first runs the timers that are due.
  clock.pass(2 * introductionMs)
  await polls(pollsAfterLimit - 1)
  greet()
  clock.pass(2 * introductionMs)
  await polls(pollsAfterLimit - 1)
  listener.introduced(server)
  await polls(2)
  network.settle()
  expect([greeted, codes]).toEqual([1, []])
})

describe('connections that say nothing', () => {
  it('do not crowd out one that says hello, however many there are', async () => {
    const { network, listener, connect, dial } = await listening()
    const greeted: unknown[] = []
    listener.attach(({ hello }) => greeted.push(hello.from))
    const silent = Array.from({ length: mostStrangers }, () => connect())
    const honest = dial()
    network.settle()
    expect([greeted, honest.codes]).toEqual([[1], []])
    // The oldest had to go.
    expect(silent.map(({ codes }) => codes.length)).toEqual([1, ...Array(mostStrangers - 1).fill(0)])
    expect(silent[0].codes).toEqual([closeCode.late])
    // Nor do those that come before it is proved.
    for (let n = 0; n < 10 * mostStrangers; n++) connect()
    network.settle()
    expect(honest.codes).toEqual([])
  })

  it('of one address displace each other, not those of another', async () => {
    const { network, connect } = await listening()
    const honest = connect('192.0.2.1')
    for (let n = 0; n < 10 * mostStrangers; n++) connect('192.0.2.2')
    network.settle()
    expect(honest.codes).toEqual([])
  })

  it('and do not close either are dropped: a bounded number of them is here', async () => {
    const { network, connect } = await listening()
    const servers = Array.from({ length: 5 * mostStrangers }, () => {
      const { client, server } = connect()
      client.isCut = true
      server.close = () => {
        server.readyState = socketState.closing
      }
      return server
    })
    network.settle()
    const left = servers.filter(({ readyState }) => readyState !== socketState.closed)
    expect(left.length).toBe(2 * mostStrangers)
  })
})

it('connections that say hello and prove nothing displace each other', async () => {
  const { network, dial, listener } = await listening()
  listener.attach(() => {})
  const first = Array.from({ length: mostStrangers }, () => dial('192.0.2.2'))
  const honest = dial('192.0.2.1')
  dial('192.0.2.2')
  network.settle()
  expect(first.map(({ codes }) => codes.length)).toEqual([1, 1, ...Array(mostStrangers - 2).fill(0)])
  expect(honest.codes).toEqual([])
})
