import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import type { Direction, MessageFault } from './message-faults.js'
import { routeOf } from './proxy-route.js'

export interface MessageProxyOptions {
  /** What becomes of each message. */
  readonly fault: MessageFault
}

/**
 * What a proxy holds of one direction until the other side has opened, and what one message may have: a
 * bound, far above what tests send.
 */
const maxMessageBytes = 64 * 2 ** 20

/**
 * A WebSocket server that passes each message on by its own WebSocket, changed as a fault tells:
 * truncated, repeated, out of order, lost. Each message is a whole one of the protocol, so what is wrong with
 * it only its receiver can notice.
 */
export class MessageProxy {
  readonly url: string
  readonly #server: WebSocketServer

  private constructor(server: WebSocketServer, { fault }: MessageProxyOptions) {
    this.#server = server
    this.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
    let connections = 0
    server.on('connection', (near, { url = '/' }) => {
      const route = routeOf(url)
      if (route === undefined) {
        near.terminate()
        return
      }
      const far = new WebSocket(route.target, near.protocol === '' ? [] : near.protocol, {
        perMessageDeflate: false,
        maxPayload: maxMessageBytes,
      })
      const of = { connection: connections++, link: route.link }
      this.#pass(near, far, { ...of, direction: 'to server' }, fault)
      this.#pass(far, near, { ...of, direction: 'to client' }, fault)
    })
  }

  static async start(options: MessageProxyOptions): Promise<MessageProxy> {
    const server = new WebSocketServer({
      host: '127.0.0.1',
      port: 0,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
    })
    await once(server, 'listening')
    return new MessageProxy(server, options)
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #pass(
    from: WebSocket,
    to: WebSocket,
    of: { readonly connection: number; readonly link: string; readonly direction: Direction },
    fault: MessageFault,
  ): void {
    let index = 0
    const early: (() => void)[] = []
    const whenOpen = (act: () => void) => {
      if (to.readyState === to.CONNECTING) early.push(act)
      else act()
    }
    to.once('open', () => {
      for (const act of early.splice(0)) act()
    })
    from.on('message', (data: RawData, isBinary) => {
      const message = { ...of, index: index++, isBinary, data: data as Buffer }
      for (const each of fault(message)) whenOpen(() => to.send(each, { binary: isBinary }))
    })
    from.on('error', () => {})
    // 1005 and 1006 stand for a code that was not sent; the latter for no closing handshake either.
    from.on('close', (code, reason) => {
      whenOpen(() => {
        if (code === 1006) to.terminate()
        else if (code === 1005) to.close()
        else to.close(code, reason)
      })
    })
  }
}
