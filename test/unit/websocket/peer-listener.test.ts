import { expect, it } from 'vitest'
import { closeCode, encodeIntroduction } from '../../../src/websocket/introduction.js'
import { introductionMs, PeerListener } from '../../../src/websocket/peer-listener.js'
import { newNonce } from '../../../src/websocket/proof.js'
import { type Socket, socketState } from '../../../src/websocket/socket/socket.js'
import { Network } from '../../support/socket-pair.js'
import { VirtualClock } from '../../support/virtual-clock.js'

/** A listener, and what dials it: each connection says hello. */
async function listening() {
  const clock = new VirtualClock()
  const network = new Network()
  let accept!: (socket: Socket, remote: string) => void
  const listen = async (accepts: typeof accept) => {
    accept = accepts
    return { url: 'memory', close: async () => {} }
  }
  const listener = await PeerListener.open({ listen }, clock)
  const dial = () => {
    const [client, server] = network.pair()
    client.readyState = server.readyState = socketState.open
    const codes: number[] = []
    client.addEventListener('close', ({ code }: { readonly code: number }) => codes.push(code))
    accept(server, 'memory')
    const hello = { kind: 'hello', version: 1, world: 'memory', from: 1, to: 0, nonce: newNonce() } as const
    client.send(encodeIntroduction<'hello'>(hello))
    network.settle()
    return { client, codes }
  }
  return { clock, network, listener, dial }
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

it('closes what does not introduce itself in time, or is one too many, as late', async () => {
  const { clock, network, dial } = await listening()
  const first = Array.from({ length: 64 }, dial)
  const { codes } = dial()
  network.settle()
  expect(codes).toEqual([closeCode.late])
  clock.pass(introductionMs)
  network.settle()
  expect(first.every((each) => each.codes[0] === closeCode.late)).toBe(true)
})
