import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProxiedConnection, TcpProxy } from './tcp-proxy.js'

/**
 * A connection between programs: who dialed, and who listens where it leads; undefined for a program that is
 * not proxied.
 */
export interface ProgramLink {
  readonly dialer: number
  readonly listener: number | undefined
}

const maxPrefaceBytes = 100

/**
 * Every connection on this host of programs that run with {@link ProxiedPrograms.execArgv}, whatever they
 * are, led through a proxy and named by the ids of the two processes.
 */
export class ProxiedPrograms {
  /** Flags of Node for the programs. */
  readonly execArgv: readonly string[]
  readonly #server: Server
  readonly #folder: string
  /** Ids of processes by the port they listen on. */
  readonly #listeners = new Map<number, number>()

  private constructor(server: Server, proxy: TcpProxy) {
    this.#server = server
    // Workers load what is required, and not what is imported.
    const { port } = server.address() as AddressInfo
    const preload = fileURLToPath(new URL('./dial-through-proxy.cjs', import.meta.url))
    this.#folder = mkdtempSync(join(tmpdir(), 'rankweave-proxy-'))
    const file = join(this.#folder, 'preload.cjs')
    writeFileSync(file, `require(${JSON.stringify(preload)})(${port})`)
    this.execArgv = ['--require', file]
    server.on('connection', (socket) => {
      readLine(socket, ([word, pid, port], rest) => {
        if (word === 'LISTENS') {
          this.#listeners.set(Number(port), Number(pid))
          socket.end()
          return
        }
        proxy.lead(socket, rest, { target: `ws://127.0.0.1:${port}`, link: `${pid} ${port}` })
      })
    })
  }

  static async start(proxy: TcpProxy): Promise<ProxiedPrograms> {
    const server = createServer({ noDelay: true, allowHalfOpen: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ProxiedPrograms(server, proxy)
  }

  linkOf({ link }: Pick<ProxiedConnection, 'link'>): ProgramLink {
    const [pid, port] = link.split(' ').map(Number)
    return { dialer: pid, listener: this.#listeners.get(port) }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    rmSync(this.#folder, { recursive: true })
    await closed
  }
}

/** The words of a line, and what came after it. */
function readLine(socket: Socket, line: (words: readonly string[], rest: Buffer) => void): void {
  let bytes = Buffer.alloc(0)
  const more = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    const end = bytes.indexOf('\r\n')
    if (end >= 0) {
      socket.off('data', more).pause()
      line(bytes.subarray(0, end).toString('latin1').split(' '), bytes.subarray(end + 2))
    } else if (bytes.length > maxPrefaceBytes) socket.destroy()
  }
  socket.on('data', more)
  socket.on('error', () => {})
}
