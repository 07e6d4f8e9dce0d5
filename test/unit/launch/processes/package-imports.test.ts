import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mayImportPackages } from '../../../../src/launch/processes/load-program.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-imports-'))
  mkdirSync(join(folder, 'elsewhere'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): URL {
  const file = join(folder, name)
  writeFileSync(file, text)
  return pathToFileURL(file)
}

describe('a program imports no package', () => {
  it.each([
    ['nothing', 'export default async (world) => world.barrier()'],
    [
      'modules of Node',
      `import { readFileSync } from 'node:fs'\nimport os from "os"\nexport default () => os`,
    ],
    ['its own URL', 'export default () => import.meta.url'],
    [
      'words that begin like it',
      'export default () => { const imported = 1, from = 2; return imported + from }',
    ],
  ])('when it imports %s', (_, text) => {
    expect(mayImportPackages(write('alone.mjs', text), [])).toBe(false)
  })

  it('when its own files import each other, in a ring too', () => {
    write('a.mjs', `export { default } from './b.js'\nexport * from './b.js'\nimport './c.mjs'`)
    write('b.js', `import * as a from './a.mjs'\nexport default () => a`)
    write('c.mjs', `import fs,\n  { readFileSync }\n  from 'node:fs'\nfs.existsSync(readFileSync)`)
    expect(mayImportPackages(pathToFileURL(join(folder, 'a.mjs')), [])).toBe(false)
  })

  it('when a link leads to it: its files are beside the target', () => {
    writeFileSync(join(folder, 'elsewhere', 'target.mjs'), `import './beside.mjs'`)
    writeFileSync(join(folder, 'elsewhere', 'beside.mjs'), '')
    symlinkSync(join(folder, 'elsewhere', 'target.mjs'), join(folder, 'link.mjs'))
    expect(mayImportPackages(pathToFileURL(join(folder, 'link.mjs')), [])).toBe(false)
  })
})

describe('a program may import a package', () => {
  it.each([
    `import { waitall } from 'rankweave'`,
    `import{waitall}from"rankweave"`,
    `import 'rankweave'`,
    `const x = 1; import 'rankweave'`,
    `export * from 'rankweave'`,
    `export { waitall } from 'rankweave'`,
    `export * as all from 'rankweave'`,
    `import {\n  waitall, // ours\n} from 'rankweave'`,
    `import { waitall as 'w' } from 'rankweave'`,
    `import x from '#own'`,
    `import x from '\\x72ankweave'`,
    `const { waitall } = await import('rankweave')`,
    'await import(`rankweave`)',
    `await import /* a package */ (process.argv[2])`,
    `const url = import.meta.resolve('rankweave')`,
    `import { createRequire } from 'node:module'`,
    `const x = require('rankweave')`,
    `import './missing.mjs'`,
    `import data from './data.json' with { type: 'json' }`,
    `import 'data:text/javascript,import "rankweave"'`,
    `import 'https://example.org/rankweave.js'`,
  ])('%s', (text) => {
    write('data.json', '{}')
    expect(mayImportPackages(write('one.mjs', text), [])).toBe(true)
  })

  it('through a file that it imports', () => {
    write('deep.mjs', `import 'rankweave'`)
    write('middle.mjs', `import './deep.mjs'`)
    expect(mayImportPackages(write('top.mjs', `import './middle.mjs'`), [])).toBe(true)
  })

  it('when it is not JavaScript, or no module of ES', () => {
    expect(mayImportPackages(write('typed.ts', ''), [])).toBe(true)
    expect(mayImportPackages(write('common.cjs', ''), [])).toBe(true)
    expect(mayImportPackages(new URL('data:text/javascript,'), [])).toBe(true)
    expect(mayImportPackages(pathToFileURL(join(folder, 'nowhere.mjs')), [])).toBe(true)
  })

  it.each(['--import=./hook.mjs', '--import', '-r', '--require', '--loader', '--experimental-loader=x'])(
    'when Node has the flag %s',
    (flag) => {
      expect(mayImportPackages(write('alone.mjs', ''), ['--enable-source-maps', flag])).toBe(true)
    },
  )
})
