import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'

const folder = temporaryFolder('bin')

it('bin/rankweave.js says what is missing: a build, or a newer Node.js; and runs what has been built', () => {
  const file = join(folder(), 'bin', 'rankweave.js')
  mkdirSync(join(folder(), 'bin'))
  writeFileSync(join(folder(), 'package.json'), '{ "type": "module" }')
  copyFileSync(fileURLToPath(new URL('../../../bin/rankweave.js', import.meta.url)), file)
  const started = (...flags: string[]) =>
    spawnSync(process.execPath, [...flags, file, 'plan'], { encoding: 'utf8' })
  expect(started()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('npm run build') })
  mkdirSync(join(folder(), 'dist', 'cli'), { recursive: true })
  writeFileSync(join(folder(), 'dist', 'cli', 'main.js'), 'console.log(process.argv[2])')
  expect(started()).toMatchObject({ status: 0, stdout: 'plan\n', stderr: '' })
  const older = "Object.defineProperty(process, 'versions', { value: { node: '20.8.1' } })"
  expect(started('--import', `data:text/javascript,${older}`)).toMatchObject({
    ...{ status: 2, stdout: '' },
    stderr: 'ERR_USAGE: rankweave needs Node.js 20.9 or newer, got 20.8.1\n',
  })
})
