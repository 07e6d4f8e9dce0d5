import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { DrawnMutant } from './draw-mutants.js'
import type { SuiteName, TestedFile } from './in-copy/mutant-run.js'

/** What results are of: two files of the same sources, seed and sample are of the same mutants. */
export interface Subject {
  readonly kind: 'subject'
  /** Objects of git. */
  readonly src: string
  readonly test: string
  readonly seed: number
  readonly sample: number
}

export type Mutant = Pick<DrawnMutant, 'id' | 'path' | 'line' | 'change'>

/** A test file that ran unchanged, and the mutants that it reaches. */
export interface ReachingFile extends TestedFile {
  /** Of the same text for all that the test file imports or starts below `test`. */
  readonly fingerprint: string
  readonly reached: readonly number[]
}

interface Reach {
  readonly kind: 'reach'
  readonly suite: SuiteName
  readonly files: readonly ReachingFile[]
}

/** How a suite did with a mutant. */
export interface Result {
  readonly kind: 'result'
  readonly suite: SuiteName
  readonly id: number
  /** The test file that fails or hangs with the mutant, `the run` where none does and vitest fails; null if it lives. */
  readonly killedBy: string | null
  readonly isLate: boolean
  /** Test files that ran, and that reach the mutant but were left out for time. */
  readonly tried: number
  readonly cut: number
  /** Whether the result of an equal test file in other results stands for a run. */
  readonly isReused: boolean
}

type Line = Subject | ({ readonly kind: 'mutant' } & Mutant) | Reach | Result

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
    this.#lines.push(...whole.map((line) => JSON.parse(line) as Line))
  }

  add(...lines: readonly Line[]): void {
    this.#lines.push(...lines)
    if (this.#path !== undefined)
      appendFileSync(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }

  #of<Kind extends Line['kind']>(kind: Kind): Extract<Line, { readonly kind: Kind }>[] {
    return this.#lines.filter((line): line is Extract<Line, { readonly kind: Kind }> => line.kind === kind)
  }

  get subject(): Subject | undefined {
    return this.#of('subject')[0]
  }

  get mutants(): readonly Mutant[] {
    return this.#of('mutant')
  }

  reach(suite: SuiteName): readonly ReachingFile[] | undefined {
    return this.#of('reach').find((line) => line.suite === suite)?.files
  }

  get results(): readonly Result[] {
    return this.#of('result')
  }

  /** The result that kills each mutant that some suite kills. */
  kills(): ReadonlyMap<number, Result> {
    return new Map(
      this.results.filter(({ killedBy }) => killedBy !== null).map((result) => [result.id, result]),
    )
  }
}

/** The test files that reach a mutant and pass unchanged: those of its room first, quick ones first. */
export function reaching(mutant: Mutant, files: readonly ReachingFile[]): ReachingFile[] {
  const ofRoom = `test/unit/${mutant.path.split('/')[1]}/`
  const isOther = ({ path }: ReachingFile) => Number(!path.startsWith(ofRoom))
  return files
    .filter(({ state, reached }) => state === 'passed' && reached.includes(mutant.id))
    .sort((a, b) => isOther(a) - isOther(b) || a.seconds - b.seconds)
}

/** A kill of other results that holds in a suite, too, where it has the same test file, which passes unchanged. */
export function equalKill(
  other: MutantResults,
  suite: SuiteName,
  id: number,
  files: readonly ReachingFile[],
) {
  const kill = other.results.find(
    (result) => result.id === id && result.suite === suite && result.killedBy !== null,
  )
  const before = other.reach(suite)?.find(({ path }) => path === kill?.killedBy)
  const now = files.find(({ path }) => path === kill?.killedBy)
  const isEqual = now?.state === 'passed' && now.fingerprint === before?.fingerprint
  return kill !== undefined && isEqual ? { ...kill, tried: 0, cut: 0, isReused: true } : undefined
}
