import { readFileSync } from 'node:fs'

/** What the bench tells a run of tests in its copy, in a file that the environment names. */
export interface MutantRun {
  readonly suite: SuiteName
  /** The file to which the run appends how test files end, each as a line of JSON. */
  readonly report: string
  /** The folder of the hits that the run counts, if it does. */
  readonly hits?: string
  /** Test files in the order in which they run, with the seconds after which each counts as hanging. */
  readonly limits?: readonly (readonly [path: string, seconds: number])[]
}

export type SuiteName = 'test' | 'soak'

/** How a test file ended. */
export interface TestedFile {
  readonly path: string
  readonly state: 'passed' | 'failed' | 'late' | 'skipped'
  readonly seconds: number
}

/** What the bench told this run. */
export function mutantRun(): MutantRun {
  return JSON.parse(readFileSync(process.env['RANKWEAVE_MUTANT_RUN']!, 'utf8'))
}
