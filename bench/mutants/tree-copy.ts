import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How a run of tests ended; one that takes much longer than without a mutant does not end. */
export type Outcome = 'passed' | 'failed' | 'late'

const copied = [
  ...['src', 'test', 'docs', 'bench', 'examples', 'scripts'],
  ...['package.json', 'tsconfig.json', 'vitest.config.ts', 'biome.json'],
]

/** A copy of the sources and tests, in which files are changed and tests run. */
export class TreeCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'rankweave-mutants-'))

  /** @param root of the repository */
  constructor(root: string) {
    for (const name of copied) cpSync(join(root, name), join(this.folder, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'))
    process.on('exit', () => this.remove())
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Runs tests up to the first that fails. */
  test(paths: readonly string[], limitSeconds: number): Promise<Outcome> {
    const vitest = join(this.folder, 'node_modules/vitest/vitest.mjs')
    const projects = ['--project', 'unit', '--project', 'cases']
    const child = spawn(
      process.execPath,
      [vitest, 'run', ...projects, '--bail', '1', '--reporter', 'dot', ...paths],
      { cwd: this.folder, detached: true, stdio: 'ignore' },
    )
    return new Promise((resolve, reject) => {
      const end = (): void => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      }
      process.once('exit', end)
      let isLate = false
      const clock = setTimeout(() => {
        isLate = true
        end()
      }, limitSeconds * 1000)
      child.on('error', reject)
      child.on('close', (code) => {
        clearTimeout(clock)
        process.off('exit', end)
        resolve(isLate ? 'late' : code === 0 ? 'passed' : 'failed')
      })
    })
  }
}
