import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeToken } from '../../../../src/cli/commands/host.js'
import { refusal } from '../../../support/refusal.js'
import { ownFolder } from '../../../support/temporary-folder.js'

const folder = ownFolder('token-file')

it('the file of a token is readable for its user only, also one that others could read before', () => {
  const [fresh, before] = [join(folder, 'fresh'), join(folder, 'before')]
  writeFileSync(before, 'an older and longer token\n', { mode: 0o666 })
  for (const file of [fresh, before]) {
    writeToken(file, 'token')
    expect(readFileSync(file, 'utf8')).toBe('token\n')
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  }
})

it('one that cannot be written is ERR_FILE', () => {
  expect(() => writeToken(folder, 'token')).toThrow(refusal('ERR_FILE'))
})
