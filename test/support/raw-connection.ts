import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that says what a test wants and never closes its own side, with what it has been told. */
export interface RawConnection {
  readonly socket: Socket
  told(): string
  /** Resolves to all that it has been told when the service has ended its side. */
  whole(): Promise<string>
  /** Resolves to what follows of it when this has come. */
  heard(part: string | RegExp): Promise<string>
}

export async function rawConnection(url: string, text = ''): Promise<RawConnection> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  let told = ''
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    told += piece
  })
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  const isOver = () => socket.readableEnded || socket.destroyed
  return {
    socket,
    told: () => told,
    async whole() {
      if (!isOver()) await new Promise<void>((over) => socket.once('end', over).once('close', over))
      socket.destroy()
      return told
    },
    async heard(part) {
      const before = told.length
      while (told.slice(before).search(part) < 0) await once(socket, 'data')
      return told.slice(before)
    },
  }
}

/** The text of a request to this host. */
export const requestText = (line: string, headers: readonly string[] = [], body = '') =>
  [`${line} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', body].join('\r\n')

const keyHeader = 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=='

/** The headers of an offer of a WebSocket that can be taken up. */
export const socketOffer = [
  ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', keyHeader],
]

/** The status of each answer in a text. */
export const statusesOf = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
