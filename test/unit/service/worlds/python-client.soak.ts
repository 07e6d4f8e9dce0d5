import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { python, pythonMissing } from '../../../support/python.js'
import { startService } from '../../../support/service.js'

const missing = pythonMissing()
if (missing !== undefined) console.log(`skipped: ${missing}`)

it.skipIf(missing !== undefined)(
  'eight members in Python split twice, free, and survive the loss of one',
  async () => {
    const token = 'a-token-of-at-least-thirty-two-characters'
    const { service, end } = await startService({ tokens: [token] })
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-python-'))
    try {
      writeFileSync(join(folder, 'tokens'), `# tokens\n${token}\n`)
      const program = fileURLToPath(
        new URL('../../../../examples/python-client/eight_members.py', import.meta.url),
      )
      const { stdout } = await promisify(execFile)(python, [
        '-B',
        program,
        `${service.url.replace('http', 'ws')}/v1/worlds`,
        join(folder, 'tokens'),
      ])
      expect(stdout).toBe('8 members, 2 splits, 1 lost, 7 continue\n')
    } finally {
      rmSync(folder, { recursive: true })
      await end()
    }
  },
)
