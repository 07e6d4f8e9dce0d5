import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { newWorld, server } from '../../support/mounted-server.js'
import { onlyObject } from '../cli/run-cli.js'
import { spawnCli } from '../cli/spawn-cli.js'

const file = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

it("rankweave join joins a world of a rendezvous that is mounted in a user's server, at a path", async () => {
  expect(readFileSync(file('docs/websocket.md'), 'utf8')).toContain(
    readFileSync(file('test/support/mounted-server.ts'), 'utf8'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    expect(await (await fetch(`http://${address}`)).text()).toBe('A server of any kind.\n')
    const elsewhere = new WebSocket(`ws://${address}/elsewhere`)
    expect(await once(elsewhere, 'error')).toMatchObject([{ code: 'ECONNRESET' }])

    const { token, ranks, processes, ended } = newWorld(4, 2)
    expect([ranks, processes]).toEqual([4, 2])
    const join = ['join', `ws://${address}/worlds`, '--token', token, '--json', file('examples/ring.ts')]
    const joined = await Promise.all([spawnCli(join), spawnCli(join)])
    expect(joined.map(({ exitCode, stderr }) => (exitCode === 0 ? '' : stderr))).toEqual(['', ''])
    const results = joined.map((answer) => onlyObject(answer) as { firstRank: number; ranks: number })
    expect(results.map(({ firstRank }) => firstRank).sort()).toEqual([0, 2])
    expect(results.every((each) => each.ranks === 4)).toBe(true)
    expect(await ended).toEqual({ lost: [], failed: null, closed: null })
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
