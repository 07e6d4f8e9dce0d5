import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Test files that have passed at one commit, so that a run that was interrupted or has failed can be resumed
 * file by file. Written as they pass, to a folder that git ignores; nothing is retained with uncommitted
 * changes.
 */
export class PassedFiles implements Reporter {
  /** From the root of the repository. */
  readonly paths: readonly string[]
  readonly #file: string

  constructor(file: string) {
    this.#file = file
    this.paths = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  }

  /** Those of the commit that is checked out; undefined with uncommitted changes, or where git is missing. */
  static ofCommit(): PassedFiles | undefined {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
    try {
      if (git('status', '--porcelain') !== '') return undefined
      mkdirSync('.soak', { recursive: true })
      return new PassedFiles(`.soak/${git('rev-parse', 'HEAD')}`)
    } catch {
      return undefined
    }
  }

  onTestModuleEnd(module: TestModule): void {
    if (module.state() === 'passed') appendFileSync(this.#file, `${relative('.', module.moduleId)}\n`)
  }
}
