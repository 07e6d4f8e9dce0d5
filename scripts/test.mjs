// npm test: builds the library, lints, checks types, then runs all tests of vitest.config.ts.
// npm test -- PATHS..: runs these test files only; options of vitest may stand among the paths.
import { spawnSync } from 'node:child_process'
import { argv, execPath, exit } from 'node:process'

/** @param {string[]} words */
function run(...words) {
  const { status } = spawnSync(execPath, words, { stdio: 'inherit' })
  if (status !== 0) exit(status ?? 1)
}

const paths = argv.slice(2)
if (paths.length === 0) run('scripts/side-by-side.mjs', 'build', 'lint', 'typecheck')
run('node_modules/vitest/vitest.mjs', 'run', ...paths)
