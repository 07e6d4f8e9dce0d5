import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { testHosts, whyNoHosts, withTwoHosts } from '../support/faults/two-hosts.js'

const missing = whyNoHosts()
if (missing !== undefined) console.warn(`tests of two hosts are skipped: ${missing}`)

/** Answers every line with the same line. */
const echo = `
  const server = require('node:net').createServer((socket) => socket.pipe(socket))
  server.listen(7000, '0.0.0.0', () => console.log('listening'))`

/** Sends a line whenever it gets the answer to the last one, and counts them on its output. */
const ask = (address: string) => `
  const socket = require('node:net').createConnection(7000, '${address}')
  let n = 0
  socket.on('connect', () => socket.write('.'))
  socket.on('data', () => { console.log(++n); setTimeout(() => socket.write('.'), 1) })
  socket.on('close', () => console.log('closed'))`

describe.skipIf(missing !== undefined)('two hosts', () => {
  it('reach each other by a cable that can be cut and mended, and leave nothing behind', async () => {
    const pids = await withTwoHosts(async ({ hosts: [near, far], cutCable, mendCable }) => {
      const server = far.start([process.execPath, '--eval', echo])
      await once(server.stdout!, 'data')
      const client = near.start([process.execPath, '--eval', ask(far.address)])
      await once(client.stdout!, 'data')
      cutCable()
      mendCable()
      // Nobody was told, and TCP sends again what was lost.
      expect(String((await once(client.stdout!, 'data'))[0])).not.toContain('closed')
      return [server.pid!, client.pid!]
    })
    expect(testHosts(process.pid)).toEqual([])
    for (const pid of pids) await gone(pid)
  })

  it('are removed when the process that made them is killed, by the next one', async () => {
    const support = fileURLToPath(new URL('../support/faults/two-hosts.ts', import.meta.url))
    const code = `
      import { withTwoHosts } from ${JSON.stringify(support)}
      await withTwoHosts(async () => { process.kill(process.pid, 'SIGKILL') })`
    const { signal, pid } = spawnSync(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '--eval',
      code,
    ])
    expect(signal).toBe('SIGKILL')
    expect(testHosts(pid)).toHaveLength(2)
    await withTwoHosts(async () => {})
    expect(testHosts(pid)).toEqual([])
  })
})

/** Resolves when no process has that id. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}
