import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { compiled } from '../support/compiled.js'
import { hostWorld, joinWorld, printedOnLocal } from '../support/faults/host-programs.js'
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
      // No process was told, and TCP sends again what was lost.
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

describe.skipIf(missing !== undefined)('a world on two hosts', () => {
  const program = compiled('faults/two-hosts-program.ts')

  it('passes conformance', async () => {
    await withTwoHosts(async ({ hosts: [near, far] }) => {
      const world = await hostWorld(near, '-n', '5', '--processes', '2')
      const joined = [near, far].map((host) => joinWorld(host, world, program, [], ['conformance']))
      const ended = await Promise.all(joined.map((each) => each.ended))
      expect(
        ended.map(({ code }) => code),
        ended.map(({ stderr }) => stderr).join('\n'),
      ).toEqual([0, 0])
      expect(ended.map(({ stdout }) => stdout).join('')).toMatch(/passed \d\d/)
      expect((await world.program.ended).code).toBe(0)
    })
  })

  it('runs the example of sparse matrices, with the same result as on one', async () => {
    const example = fileURLToPath(new URL('../../examples/spmm.ts', import.meta.url))
    const expected = printedOnLocal(example, 8)
    await withTwoHosts(async ({ hosts: [near, far] }) => {
      const world = await hostWorld(near, '-n', '8', '--processes', '2')
      const joined = [near, far].map((host, n) => joinWorld(host, world, example, ['--process', String(n)]))
      const ended = await Promise.all(joined.map((each) => each.ended))
      expect(
        ended.map(({ code }) => code),
        ended.map(({ stderr }) => stderr).join('\n'),
      ).toEqual([0, 0])
      expect(ended.map(({ stdout }) => stdout).join('')).toBe(expected)
    })
  })

  it('learns by heartbeat that the cable was cut, and each side continues or ends', async () => {
    await withTwoHosts(async ({ hosts: [near, far], cutCable }) => {
      const world = await hostWorld(near, '-n', '3', '--processes', '3', '--silence', '2')
      const joined = [near, near, far].map((host, n) =>
        joinWorld(host, world, program, ['--process', String(n)], ['until lost']),
      )
      await Promise.all(joined.map((each, n) => each.printed(`rank ${n} communicates`)))
      cutCable()
      const [first, second, cut] = await Promise.all(joined.map((each) => each.ended))
      for (const [rank, { stdout, stderr }] of [first, second].entries()) {
        expect(stdout, stderr).toMatch(new RegExp(`rank ${rank} has (ERR_PEER_LOST|ERR_REVOKED)`))
        expect(stdout, stderr).toContain(`rank ${rank} is one of 2, sum 1`)
      }
      expect(first.stdout + second.stdout).toContain('has ERR_PEER_LOST')
      expect(cut.stdout, cut.stderr).toContain('rank 2 has ERR_WORLD_LOST')
      expect(cut.code).toBe(3)
      const { code, stderr } = await world.program.ended
      expect(code).toBe(3)
      expect(stderr).toMatch(/process 2 was lost: .*silent/)
    })
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
