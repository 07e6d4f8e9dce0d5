import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// What the repository refers to is in it: no path leads out of the checkout, and no path names a folder of
// one machine.

const root = fileURLToPath(new URL('..', import.meta.url))
/** Data and what a generator writes. */
const notRead = /\.(mtx|gz|svg|tgz)$|^package-lock\.json$|^test\/(golden\/|self-contained\.test\.ts$)/

/** Paths that count from somewhere else than their file, by file. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  // A reader's folder next to the checkout.
  'docs/getting-started.md': ['../hello', '../rankweave/rankweave-0.1.0.tgz'],
  // The tables that it writes into bench/results link from there.
  'bench/result-tables.ts': ['../../docs'],
  // In the folder of another package.
  'test/soak/docs-api.soak.ts': ['../bin/typedoc'],
  // What the build writes, and another test may be writing.
  'test/support/leaks.mjs': ['../../dist/entry/index.js'],
}

/** Tracked files, and new ones that git does not ignore. */
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && !notRead.test(path) && existsSync(join(root, path)))

const exists = (path: string) =>
  [path, path.replace(/\.js$/, '.ts'), `${path}.ts`].some((name) => existsSync(join(root, name)))

/** References in the text of a file that a clone of the repository alone cannot resolve. */
function unresolved(file: string, text: string): string[] {
  const relative = Array.from(text.matchAll(/(?<![\w./])(?:\.\/)?(?:\.\.\/)+[\w@./-]*/g), ([path]) => path)
  const absolute = text.match(/(?<![\w./])\/(?:home|mnt|root|tmp|Users|work)\/[\w./-]+/g) ?? []
  const leads = (path: string) => {
    const target = normalize(join(dirname(file), path))
    return target.startsWith('..') || !exists(target)
  }
  return [...relative.filter((path) => leads(path) && !elsewhere[file]?.includes(path)), ...absolute]
}

it('every path in the repository leads to a file of the repository', () => {
  const found = files.flatMap((file) =>
    unresolved(file, readFileSync(join(root, file), 'utf8')).map((path) => `${file}: ${path}`),
  )
  expect(found).toEqual([])
})

describe('a reference is found', () => {
  const up = '../'
  it.each([
    ['a link above the root', 'docs/x.md', `[data](${up}${up}shared/README.md)`],
    ['a path that a shell script reads', '.ci/run', `cp ${up}${up}shared/*.mtx .`],
    ['a file that is not there', 'src/comm/x.ts', `import { a } from '${up}no-such-file.js'`],
    ['a home folder', 'bench/x.ts', `const data = '/${'home'}/me/data'`],
    ['a temporary folder', 'docs/x.md', `see /${'tmp'}/results.json`],
  ])('%s', (_, file, text) => {
    expect(unresolved(file, text)).toHaveLength(1)
  })

  it('and references to files of the repository are not', () => {
    expect(unresolved('test/unit/x.test.ts', `import { run } from '${up}${up}src/launch/run.js'`)).toEqual([])
    expect(unresolved('docs/x.md', `[source](${up}README.md#status)`)).toEqual([])
  })
})
