import { RankweaveError } from '../errors.js'

/**
 * The part of a WebSocket that a member of a world uses, common to browsers, the package `ws` and Node 22.
 */
export interface ClientSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'error', listener: (event: object) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
}

/** Makes a socket that connects to an address which begins with `ws:` or `wss:`. */
export type MakeSocket = (url: string) => ClientSocket

/**
 * Returns the socket of the platform: that of browsers and Node 22, or that of the package `ws` on Node 20.
 * @throws ERR_SERVICE
 */
export async function platformSocket(): Promise<MakeSocket> {
  const { WebSocket } = globalThis as { readonly WebSocket?: new (url: string) => ClientSocket }
  if (WebSocket !== undefined) return (url) => new WebSocket(url)
  // The name is not a literal, for which bundlers of pages would look.
  const name: string = 'ws'
  try {
    const ws = (await import(/* @vite-ignore */ name)) as {
      readonly WebSocket: new (url: string, options: object) => ClientSocket
    }
    return (url) => new ws.WebSocket(url, { perMessageDeflate: false })
  } catch (cause) {
    throw new RankweaveError(
      'ERR_SERVICE',
      'there is no WebSocket here, nor the package ws: expected the option webSocket',
      { cause },
    )
  }
}
