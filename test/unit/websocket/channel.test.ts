import { describe, expect, it } from 'vitest'
import { SocketChannel } from '../../../src/websocket/channel.js'
import { closeCode } from '../../../src/websocket/introduction.js'
import { socketState } from '../../../src/websocket/socket/socket.js'
import { Network } from '../../support/socket-pair.js'

/** Two channels at the ends of a connection, and what happens at each. */
function connected() {
  const network = new Network()
  const sockets = network.pair()
  const ends = sockets.map((socket) => {
    socket.readyState = socketState.open
    const seen: string[] = []
    const channel = new SocketChannel(socket, {
      message: (bytes) => seen.push(bytes.join()),
      ended: () => seen.push('ended'),
      broken: (reason, cause) => seen.push(`${cause}: ${reason}`),
    })
    return { socket, channel, seen }
  })
  return { network, a: ends[0], b: ends[1] }
}

describe('a channel on a socket', () => {
  it('ends at the peer after what was sent', async () => {
    const { network, a, b } = connected()
    a.channel.send(Uint8Array.of(1, 2))
    const closed = a.channel.close()
    network.settle()
    await closed
    expect([a.seen, b.seen]).toEqual([[], ['1,2', 'ended']])
  })

  it.each([closeCode.ended, 1001, 1006])(
    'is broken when anything but the peer closes the socket, with code %i',
    (code) => {
      const { b } = connected()
      b.socket.ended(code, '')
      expect(b.seen).toEqual([`closed: the connection was closed (${code})`])
    },
  )

  it('has ended, however the socket is closed, once the peer has said so', () => {
    const { network, a, b } = connected()
    void a.channel.close()
    b.socket.isCut = true
    network.settle()
    b.socket.ended(1006, '')
    expect(b.seen).toEqual(['ended'])
  })

  it('is broken by batches after the last, and by other text', () => {
    const { network, a, b } = connected()
    a.socket.send('{"kind":"end"}')
    a.socket.send(Uint8Array.of(1))
    b.socket.send('{"kind":"ready"}')
    network.settle()
    expect(a.seen).toEqual(['malformed: a text message among batches of frames'])
    expect(b.seen).toEqual(['malformed: a batch of frames after the last'])
  })
})
