import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'rankweave'
import { expect, it } from 'vitest'
import { refusal } from '../support/refusal.js'

/**
 * A listener that accepts nothing: once its queue is full, the operating system drops requests for a
 * connection.
 */
const listener = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

it('join gives up at an address that drops requests for a connection, long before the operating system does', async () => {
  const child = spawn(process.execPath, ['-e', listener], { stdio: ['ignore', 'pipe', 'inherit'] })
  const waiting: Socket[] = []
  try {
    const [text] = (await once(child.stdout, 'data')) as [Buffer]
    const port = Number(String(text))
    for (let n = 0; n < 8; n++) waiting.push(connect({ port, host: '127.0.0.1' }).on('error', () => {}))
    const program = new URL('../../examples/ring.ts', import.meta.url)
    const joined = join(program, { url: `ws://127.0.0.1:${port}`, token: 'none' })
    await expect(joined).rejects.toMatchObject(refusal('ERR_WORLD_LOST', 'no connection within 10000 ms'))
  } finally {
    for (const socket of waiting) socket.destroy()
    child.kill('SIGKILL')
  }
})
