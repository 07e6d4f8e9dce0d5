import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { version } from '../../../src/browser/join.js'

it('pages know the version of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  expect(version).toBe(manifest.version)
})
