import type { Socket, SocketTransport } from '../websocket/rendezvous/socket.js'

/** As every browser has it; the types of Node 20 lack it. */
declare const WebSocket: new (url: string) => Socket

/** The browser's own sockets. A page cannot listen. */
export const browserTransport: SocketTransport = {
  dial: (url) => new WebSocket(url),
}
