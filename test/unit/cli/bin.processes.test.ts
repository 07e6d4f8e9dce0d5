import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'

const folder = temporaryFolder('bin')

it('bin/rankweave.js says what is missing in a checkout that is not built, and runs what has been', () => {
  const file = join(folder(), 'bin', 'rankweave.js')
  mkdirSync(join(folder(), 'bin'))
  writeFileSync(join(folder(), 'package.json'), '{ "type": "module" }')
  copyFileSync(fileURLToPath(new URL('../../../bin/rankweave.js', import.meta.url)), file)
  const started = () => spawnSync(process.execPath, [file, 'plan'], { encoding: 'utf8' })
  expect(started()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('npm run build') })
  mkdirSync(join(folder(), 'dist', 'cli'), { recursive: true })
  writeFileSync(join(folder(), 'dist', 'cli', 'main.js'), 'console.log(process.argv[2])')
  expect(started()).toMatchObject({ status: 0, stdout: 'plan\n', stderr: '' })
})
