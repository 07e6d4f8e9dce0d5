import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { tokenOf } from '../../../../src/cli/commands/join.js'

const folder = mkdtempSync(join(tmpdir(), 'rankweave-token-'))
afterAll(() => rmSync(folder, { recursive: true }))
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, 'of a file\n')
const environment = { RANKWEAVE_TOKEN: 'of the environment' }

it('a token that is given as an option, or in a file, counts more than that of the environment', () => {
  expect(tokenOf({ token: 'given' }, environment)).toBe('given')
  expect(tokenOf({ tokenFile }, environment)).toBe('of a file')
  expect(tokenOf({}, environment)).toBe('of the environment')
})

it.each([
  ['none', {}],
  ['two', { token: 'given', tokenFile }],
])('%s is ERR_USAGE', (_, options) => {
  expect(() => tokenOf(options, {})).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
})
