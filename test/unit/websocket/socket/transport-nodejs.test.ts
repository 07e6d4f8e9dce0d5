import { type AddressInfo, connect, createServer, type Socket as NetSocket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { laterTurn } from '../../../../src/base/turn.js'
import {
  introductionMs,
  isPutOff,
  messageBytes,
  type Socket,
  type SocketError,
  socketState,
} from '../../../../src/websocket/socket/socket.js'
import {
  type NodeTransportOptions,
  nodeTransport,
} from '../../../../src/websocket/socket/transport-nodejs.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

const closed = (socket: Socket) =>
  new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
const opened = (socket: Socket) =>
  new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()))
const nextMessage = (socket: Socket) =>
  new Promise<unknown>((resolve) => socket.addEventListener('message', ({ data }) => resolve(data)))

/** A dialed socket and the accepted one. */
async function inPair(
  use: (dialed: Socket, accepted: Socket) => Promise<void>,
  options: Partial<NodeTransportOptions> = {},
): Promise<void> {
  const transport = nodeTransport({ maxMessageBytes: 2 ** 20, ...options })
  let accept = (_: Socket) => {}
  const accepting = new Promise<Socket>((resolve) => {
    accept = resolve
  })
  const listener = await transport.listen!((socket) => accept(socket))
  const dialed = transport.dial(listener.url)
  const [accepted] = await Promise.all([accepting, opened(dialed)])
  await use(dialed, accepted)
  const ends = [closed(dialed), closed(accepted)]
  if (dialed.readyState === socketState.open) {
    dialed.close()
    await Promise.all(ends)
  }
  await listener.close()
}

describe('sockets of Node', () => {
  it('keep the order of short and long messages, whole at every length of their head', () =>
    inPair(async (dialed, accepted) => {
      const lengths = [1, 125, 126, 127, 255, 256, 2047, 2048, 3, 65_535, 65_536, 8]
      for (const [from, to] of [
        [dialed, accepted],
        [accepted, dialed],
      ] as const) {
        const received: Uint8Array[] = []
        const all = new Promise<void>((resolve) =>
          to.addEventListener('message', ({ data }) => {
            if (received.push(messageBytes(data)!.slice()) === lengths.length) resolve()
          }),
        )
        const sent = lengths.map((length, n) => new Uint8Array(length).fill(n + 1))
        for (const message of sent) from.send(message)
        // Sent means copied, or still to be reported.
        const last = new Promise<unknown>((resolve) => from.send(new Uint8Array(1), resolve))
        await all
        expect([Boolean(await last), from.bufferedAmount]).toEqual([false, 0])
        expect(received.slice(0, sent.length)).toEqual(sent)
      }
    }))

  it('take no short message once they are closing', () =>
    inPair(async (dialed, accepted) => {
      let delivered = 0
      accepted.addEventListener('message', () => delivered++)
      const ends = [closed(dialed), closed(accepted)]
      dialed.send(new Uint8Array(8))
      dialed.close()
      const failed = await new Promise<unknown>((resolve) => dialed.send(new Uint8Array(8), resolve))
      await Promise.all(ends)
      expect(failed).toBeInstanceOf(Error)
      expect(delivered).toBe(1)
    }))

  it('are closed with code 1009 by a message that is too large, which is not delivered', () =>
    inPair(
      async (dialed, accepted) => {
        let delivered = 0
        accepted.addEventListener('message', () => delivered++)
        const ends = closed(dialed)
        dialed.send(new Uint8Array(101))
        expect(await ends).toBe(1009)
        expect(delivered).toBe(0)
      },
      { maxMessageBytes: 100 },
    ))

  it('use TLS where there is a certificate, and trust those only that they are told to', async () => {
    const { cert } = loopbackTls
    await inPair(
      async (dialed, accepted) => {
        expect(urlOf(dialed)).toMatch(/^wss:/)
        const text = nextMessage(accepted)
        dialed.send('secret')
        expect(await text).toBe('secret')
        const stranger = nodeTransport({ maxMessageBytes: 100 }).dial(urlOf(dialed))
        const reason = new Promise((resolve) =>
          stranger.addEventListener('error', ({ message }) => resolve(message)),
        )
        expect(await closed(stranger)).toBe(1006)
        expect(await reason).toMatch(/self.signed certificate/)
      },
      { tls: loopbackTls, ca: cert },
    )
  })

  it('keep the event loop alive unless told otherwise', () =>
    inPair(async (dialed, accepted) => {
      const count = () => process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length
      const before = count()
      dialed.unref!()
      accepted.unref!()
      expect(before - count()).toBe(2)
      dialed.ref!()
      accepted.ref!()
      expect(count()).toBe(before)
    }))
})

describe('a listener', () => {
  it('closes connections beyond its limit and continues', () =>
    inPair(
      async (dialed, accepted) => {
        const further = nodeTransport({ maxMessageBytes: 100 }).dial(urlOf(dialed))
        expect(await closed(further)).toBe(1006)
        const message = nextMessage(accepted)
        dialed.send('still here')
        expect(await message).toBe('still here')
      },
      { maxConnections: 1 },
    ))

  it.each([
    ['nothing', ''],
    ['half a request', 'GET / HTTP/1.1\r\n'],
  ])('is reached while more connections than it holds say %s', (_, said) =>
    inPair(
      async (dialed, accepted) => {
        const { port } = new URL(urlOf(dialed))
        const silent = Array.from({ length: 32 }, () => {
          const socket = connect(Number(port), '127.0.0.1', () => socket.write(said))
          socket.on('error', () => {})
          return socket
        })
        // The newest two of them stay.
        const left = () => silent.filter((socket) => !socket.destroyed).length
        await Promise.all(silent.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
        while (left() > 2) await new Promise((resolve) => setImmediate(resolve))
        for (let times = 0; times < 4; times++) {
          const further = nodeTransport({ maxMessageBytes: 100 }).dial(urlOf(dialed))
          await opened(further)
          further.close()
          await closed(further)
        }
        expect(left()).toBeGreaterThan(0)
        const message = nextMessage(accepted)
        dialed.send('still here')
        expect(await message).toBe('still here')
        for (const socket of silent) socket.destroy()
      },
      { maxConnections: 8 },
    ),
  )

  it.each([
    ['plain', undefined],
    ['by TLS', loopbackTls],
  ])('reads a request, %s, that came before its time was over', async (_, tls) => {
    const clock = new VirtualClock()
    const transport = nodeTransport({
      maxMessageBytes: 100,
      clock,
      ...(tls === undefined ? {} : { tls, ca: tls.cert }),
    })
    const listener = await transport.listen!(() => {})
    const dialed = transport.dial(listener.url)
    while (clock.pending === 0 && dialed.readyState === socketState.connecting) await laterTurn()
    expect(clock.pending).toBe(1)
    clock.pass(introductionMs)
    await opened(dialed)
    expect(clock.pending).toBe(0)
    dialed.close()
    await closed(dialed)
    await listener.close()
  })

  it.each([
    ['says nothing', '', undefined],
    ['says half a request', 'GET / HTTP/1.1\r\n', undefined],
    ['says nothing', '', loopbackTls],
  ])('ends a connection that %s in its time, and when it closes', async (_, said, tls) => {
    const clock = new VirtualClock()
    const secured = tls === undefined ? {} : { tls }
    const listener = await nodeTransport({ maxMessageBytes: 100, clock, ...secured }).listen!(() => {})
    const silent = async () => {
      const before = clock.pending
      const socket = connect(Number(new URL(listener.url).port), '127.0.0.1', () => socket.write(said))
      const ended = new Promise((resolve) => socket.once('close', resolve))
      socket.on('error', () => {})
      socket.resume()
      while (clock.pending === before && !socket.destroyed) await laterTurn()
      return { ended }
    }
    const first = await silent()
    clock.pass(introductionMs)
    await first.ended
    expect(clock.pending).toBe(0)
    const second = await silent()
    await listener.close()
    await second.ended
    expect(clock.pending).toBe(0)
  })

  it('answers 426 to a request that is no WebSocket', () =>
    inPair(async (dialed) => {
      const { port } = new URL(urlOf(dialed))
      const answer = await new Promise<string>((resolve) => {
        let text = ''
        const socket = connect(Number(port), '127.0.0.1', () =>
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
        )
        socket.on('data', (chunk) => {
          text += chunk.toString()
        })
        socket.on('close', () => resolve(text))
      })
      expect(answer).toMatch(/^HTTP\/1.1 426 /)
    }))

  it('refuses an address that it cannot have, and a certificate without its key', async () => {
    const busy = await nodeTransport({ maxMessageBytes: 100 }).listen!(() => {})
    const port = Number(new URL(busy.url).port)
    await expect(nodeTransport({ maxMessageBytes: 100, port }).listen!(() => {})).rejects.toMatchObject({
      code: 'ERR_FABRIC',
    })
    await busy.close()
    const tls = { cert: 'none', key: 'none' }
    await expect(nodeTransport({ maxMessageBytes: 100, tls }).listen!(() => {})).rejects.toMatchObject({
      code: 'ERR_FABRIC',
    })
  })
})

describe('a connection that ends before its handshake', () => {
  /** The error of a socket that dials a server which treats every connection so. */
  const errorAt = async (treat: (socket: NetSocket) => void, scheme = 'ws') => {
    const server = createServer(treat)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const dialed = nodeTransport({ maxMessageBytes: 100 }).dial(`${scheme}://127.0.0.1:${port}`)
    const error = await new Promise<SocketError>((resolve) => dialed.addEventListener('error', resolve))
    await new Promise((resolve) => server.close(resolve))
    return error
  }
  const answer = (status: string) => (socket: NetSocket) =>
    void socket.once('data', () => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`))

  it.each([
    ['ended', (socket: NetSocket) => void socket.resume().end()],
    ['reset', (socket: NetSocket) => void socket.once('data', () => socket.resetAndDestroy())],
    ['answered 408', answer('408 Request Timeout')],
  ])('is put off where it is %s', async (_, treat) => {
    expect(isPutOff(await errorAt(treat))).toBe(true)
  })

  it('is put off where it is ended before its TLS handshake', async () => {
    expect(isPutOff(await errorAt((socket) => void socket.destroy(), 'wss'))).toBe(true)
  })

  it('is not where another status answers, or no one listens', async () => {
    expect(isPutOff(await errorAt(answer('404 Not Found')))).toBe(false)
    const listener = await nodeTransport({ maxMessageBytes: 100 }).listen!(() => {})
    await listener.close()
    const dialed = nodeTransport({ maxMessageBytes: 100 }).dial(listener.url)
    const error = await new Promise<SocketError>((resolve) => dialed.addEventListener('error', resolve))
    expect(isPutOff(error)).toBe(false)
  })
})

const urlOf = (socket: Socket): string => (socket as Socket & { readonly url: string }).url
