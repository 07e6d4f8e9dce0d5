import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadExports } from '../../../../src/launch/processes/load-program.js'
import { refusal } from '../../../support/refusal.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const programs: Readonly<Record<string, string>> = {
  'broken.mjs': 'export const one = 1\nexport function two() {\n  return (1 +\n}\n',
  'broken.cjs': 'exports.one = 1\nexports.two = (1 +}\n',
  'broken.ts': 'export const one: number = 1\nexport const two = (1 +}\n',
  'one.mjs': 'export const one = 1\n',
  'imports-module.mjs': "import './broken.mjs'\nexport default () => 1\n",
  'imports-later.mjs': "await import('./broken.mjs')\nexport default () => 1\n",
  'requires-commonjs.cjs': "require('./broken.cjs')\nmodule.exports = () => 1\n",
  'imports-typescript.ts': "import './broken.ts'\nexport default () => 1\n",
  'imports-from-typescript.ts': "import './broken.mjs'\nexport default () => 1\n",
  'parses.mjs': "JSON.parse('{')\nexport default () => 1\n",
  'class.mjs': 'export default class Main {}\n',
  'hosted-class.mjs': 'export default () => 1\nexport const hosted = class {}\n',
  'imports-absent-name.mjs': "\nimport { two } from './one.mjs'\nexport default () => two\n",
}

const folder = temporaryFolder('load-program')
beforeAll(() => {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder(), name), text)
})

describe('a syntax error in a file that a program imports: the message names that file and its line', () => {
  it.each([
    ['broken.mjs', 'broken.mjs', 4],
    ['imports-module.mjs', 'broken.mjs', 4],
    ['imports-later.mjs', 'broken.mjs', 4],
    ['requires-commonjs.cjs', 'broken.cjs', 2],
    ['imports-typescript.ts', 'broken.ts', 2],
    ['imports-from-typescript.ts', 'broken.mjs', 4],
    ['imports-absent-name.mjs', 'imports-absent-name.mjs', 2],
  ])('%s: %s, line %i', async (program, file, line) => {
    const loaded = loadExports(pathToFileURL(join(folder(), program)).href, { name: program })
    await expect(loaded).rejects.toMatchObject(
      refusal('ERR_PROGRAM', new RegExp(`^${program} failed to load: [^]*/${file}:${line}\\b`)),
    )
  })
})

it('a syntax error that the program throws keeps its message and its stack', async () => {
  const name = 'parses.mjs'
  const loaded = loadExports(pathToFileURL(join(folder(), name)).href, { name })
  await expect(loaded).rejects.toMatchObject({
    message: expect.stringMatching(/^parses.mjs failed to load: SyntaxError: (?![^\n]*:\d+\)$)/),
    cause: { stack: expect.stringMatching(/^SyntaxError: /) },
  })
})

it.each([
  ['class.mjs', 'expected a default export (world, args) => ..., got a default export of type class'],
  ['hosted-class.mjs', 'expected as export hosted a function (worlds, args) => ..., got one of type class'],
])('a class is no function to call: %s', async (name, message) => {
  const loaded = loadExports(pathToFileURL(join(folder(), name)).href, { name })
  await expect(loaded).rejects.toMatchObject({ code: 'ERR_PROGRAM', message: `${name}: ${message}` })
})
