// Compiles src/ to dist/ and gives the command its run bit.
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(new URL('dist', root), { recursive: true, force: true })
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: fileURLToPath(root),
  stdio: 'inherit',
})
chmodSync(new URL('dist/cli/main.js', root), 0o755)
