import { execFileSync } from 'node:child_process'
import { isOlder, root } from './newer.js'

const sources = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/build-page.mjs',
  'src',
  'web',
]

/**
 * Builds dist/, which tests that start workers and processes run, unless it is newer than what it is made of.
 */
export default function buildLibrary(): void {
  if (!isOlder('dist/cli/main.js', sources)) return
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
}
