import { execFileSync } from 'node:child_process'
import { buildAlone } from './build-lock.js'
import { isOlder, root } from './newer.js'

const sources = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/build-page.mjs',
  'scripts/plain-types.mjs',
  'src',
  'web',
]

/**
 * Builds dist/, which tests that start workers and processes run, unless it is newer than what it is made of.
 */
export default function buildLibrary(): void {
  buildAlone(
    root,
    () => isOlder('dist/cli/main.js', sources),
    () => execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' }),
  )
}
