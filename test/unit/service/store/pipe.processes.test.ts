import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { silentLog } from '../../../../src/service/log.js'
import { Store } from '../../../../src/service/store/store.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('pipe')

it('a pipe in place of a file of the database is refused', async () => {
  const open = () => Store.open(folder(), { dataBytes: 2 ** 30, entries: 100 }, silentLog)
  await (await open()).close()
  const current = join(folder(), 'records', 'CURRENT')
  rmSync(current)
  execFileSync('mkfifo', [current])
  await expect(open()).rejects.toMatchObject({
    code: 'ERR_STORE',
    message: expect.stringMatching(/CURRENT: expected a file/) as string,
  })
})
