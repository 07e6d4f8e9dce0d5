import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const program = `${root}dist/cli/main.js`

/** The command as published; built where a source is newer. */
export function builtProgram(): string {
  const built = existsSync(program) ? statSync(program).mtimeMs : 0
  const isOld = ['src', 'web', 'scripts'].some((folder) => newest(root + folder) > built)
  if (isOld)
    execFileSync(process.execPath, ['scripts/build.mjs'], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return program
}

/** When the last of its files was changed, in milliseconds. */
function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.reduce((last, file) => Math.max(last, statSync(`${folder}/${file}`).mtimeMs), 0)
}
