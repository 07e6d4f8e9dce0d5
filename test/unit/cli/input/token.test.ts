import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tokenOf } from '../../../../src/cli/commands/join.js'
import { refusal } from '../../../support/refusal.js'
import { ownFolder } from '../../../support/temporary-folder.js'

const folder = ownFolder('token')
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, 'of a file\n')
const environment = { RANKWEAVE_TOKEN: 'of the environment' }

it('a token that is given as an option, or in a file, counts more than that of the environment', () => {
  expect(tokenOf({ token: 'given' }, environment)).toBe('given')
  expect(tokenOf({ tokenFile }, environment)).toBe('of a file')
  expect(tokenOf({}, environment)).toBe('of the environment')
})

it.skipIf(process.platform === 'win32')('a file without an end is refused', () => {
  expect(() => tokenOf({ tokenFile: '/dev/zero' }, {})).toThrow(refusal('ERR_FILE', 'at most 16777216 bytes'))
})

it.each([
  ['none', {}],
  ['two', { token: 'given', tokenFile }],
])('%s is ERR_USAGE', (_, options) => {
  expect(() => tokenOf(options, {})).toThrow(refusal('ERR_USAGE'))
})
