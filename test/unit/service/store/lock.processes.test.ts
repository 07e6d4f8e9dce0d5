import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../../../../src/service/store/database.js'
import { Store } from '../../../../src/service/store/store.js'
import { refusal } from '../../../support/refusal.js'
import { silentLog } from '../../../support/silent-log.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('store-lock')
const nothing = () => undefined

/** Another process that opens the database, writes who opened it, and ends. */
const another = `
  const { default: { ClassicLevel } } = await import(process.argv[1])
  const level = new ClassicLevel(process.argv[2])
  await level.open()
  await level.put('opener', 'another process')
  await level.close()
`
const openElsewhere = (path: string) =>
  execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', another, import.meta.resolve('classic-level'), path],
    { stdio: 'ignore' },
  )

it('where the lock was removed and another process had the database, no write is taken', async () => {
  const path = join(folder(), 'records')
  const database = await Database.open(path)
  await database.write([['a', 1]], nothing)
  rmSync(join(path, 'LOCK'))
  openElsewhere(path)
  for (const key of ['b', 'c'])
    await expect(database.write([[key, 1]], nothing)).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: 'another process has used the data since this one opened it: start again',
    })
  await database.close()
})

it('where only the lock was removed, the next write takes it again', async () => {
  const path = join(folder(), 'records')
  const database = await Database.open(path)
  rmSync(join(path, 'LOCK'))
  await database.write([['a', 1]], nothing)
  expect(() => openElsewhere(path)).toThrow()
  await database.close()
})

it('a pipe in place of a file of the database is refused', async () => {
  const open = () => Store.open(folder(), { dataBytes: 2 ** 30, entries: 100 }, silentLog)
  await (await open()).close()
  const current = join(folder(), 'records', 'CURRENT')
  rmSync(current)
  execFileSync('mkfifo', [current])
  await expect(open()).rejects.toMatchObject(refusal('ERR_STORE', /CURRENT: expected a file/))
})
