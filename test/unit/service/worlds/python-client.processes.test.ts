import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { nodeTransport } from '../../../../src/rendezvous/transport-node.js'
import { silentLog } from '../../../../src/service/log.js'
import { Tenants } from '../../../../src/service/tenant.js'
import { WorldService } from '../../../../src/service/worlds/world-service.js'
import { python, pythonMissing } from '../../../support/python.js'

const missing = pythonMissing()
if (missing !== undefined) console.log(`skipped: ${missing}`)

it.skipIf(missing !== undefined)(
  'eight members in Python split twice, free, and survive the loss of one',
  async () => {
    const token = 'a-token-of-at-least-thirty-two-characters'
    const worlds = new WorldService({ tenants: new Tenants([token]), log: silentLog })
    const transport = nodeTransport({ maxMessageBytes: worlds.limits.maxMessageBytes })
    const listener = await transport.listen!((socket, remote) => worlds.accept(socket, remote))
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-python-'))
    try {
      writeFileSync(join(folder, 'tokens'), `# tokens\n${token}\n`)
      const program = fileURLToPath(
        new URL('../../../../examples/python-client/eight_members.py', import.meta.url),
      )
      const { stdout } = await promisify(execFile)(python, [
        '-B',
        program,
        `${listener.url}/v1/worlds`,
        join(folder, 'tokens'),
      ])
      expect(stdout).toBe('8 members, 2 splits, 1 lost, 7 go on\n')
    } finally {
      rmSync(folder, { recursive: true })
      await worlds.close()
      await listener.close()
    }
  },
)
