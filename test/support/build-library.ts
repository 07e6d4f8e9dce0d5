import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What dist/ is made of. Folders too: they change when a file of theirs is removed. */
const sources = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs', 'src']

/** Builds dist/, which tests that start workers and processes run, unless it is newer than what it is made of. */
export default function buildLibrary(): void {
  const below = readdirSync(`${root}src`, { recursive: true }).map((name) => `src/${name}`)
  const changed = Math.max(...[...sources, ...below].map((path) => statSync(root + path).mtimeMs))
  const built = statSync(`${root}dist/cli/main.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (built < changed) execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
}
