import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { DrawnMutant } from './draw-mutants.js'
import type { SuiteName, TestedFile } from './in-copy/mutant-run.js'

/** What results are of. Those of the same sources, seed and sample are of the same mutants. */
export interface Subject {
  /** Objects of git. */
  readonly src: string
  readonly test: string
  readonly seed: number
  readonly sample: number
}

/** A test file that ran unchanged, and the numbers of the mutants that it reaches. */
export interface ReachingFile extends TestedFile {
  readonly reached: readonly number[]
}

/** How a suite did with a mutant. */
export interface Result {
  readonly suite: SuiteName
  readonly id: number
  /** The test file that fails or hangs, `the run` where vitest fails without one; null if the mutant lives. */
  readonly killedBy: string | null
  readonly isLate: boolean
  /** Test files that ran, and those that reach the mutant but were left out for time. */
  readonly tried: number
  readonly cut: number
}

export type Mutant = Pick<DrawnMutant, 'id' | 'path' | 'line' | 'change'>

export interface Outcome extends Mutant, Pick<Result, 'killedBy' | 'tried' | 'cut'> {
  readonly suites: readonly SuiteName[]
}

type Line =
  | { readonly subject: Subject; readonly mutants: readonly Mutant[] }
  | { readonly suite: SuiteName; readonly files: readonly ReachingFile[] }
  | Result

/** Results as lines of JSON, which are in a file as soon as they are known. */
export class MutantResults {
  readonly #path: string | undefined
  readonly #lines: Line[] = []

  /** @param path of a file that is continued or made; undefined for none */
  constructor(path: string | undefined) {
    this.#path = path
    if (path === undefined || !existsSync(path)) return
    // A line that was being written when a run ended is not whole.
    const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    this.#lines.push(...whole.map((line) => JSON.parse(line)))
  }

  add(line: Line): void {
    this.#lines.push(line)
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify(line)}\n`)
  }

  /** Undefined before the first run has drawn mutants. */
  get drawn() {
    return this.#lines.find((line) => 'subject' in line)
  }

  /** The test files of a suite; undefined before it has run unchanged. */
  filesOf(suite: SuiteName): readonly ReachingFile[] | undefined {
    return this.#lines.filter((line) => 'files' in line).find((line) => line.suite === suite)?.files
  }

  /** The mutants with what all suites that have tried them did together. */
  outcomes(): readonly Outcome[] {
    const results = this.#lines.filter((line) => 'id' in line)
    return (this.drawn?.mutants ?? []).map((mutant) => {
      const own = results.filter(({ id }) => id === mutant.id)
      const sum = (key: 'tried' | 'cut') => own.reduce((all, result) => all + result[key], 0)
      const killedBy = own.find((result) => result.killedBy !== null)?.killedBy ?? null
      return {
        ...mutant,
        suites: own.map(({ suite }) => suite),
        killedBy,
        tried: sum('tried'),
        cut: sum('cut'),
      }
    })
  }
}
