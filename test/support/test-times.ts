import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What one run of vitest leaves for `.ci/run` (scripts/tally-tests.ts). */
export interface RunRecord {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Messages of files that failed to load, and of errors outside of every test. */
  readonly errors: readonly string[]
  readonly files: readonly TimedFile[]
}

export interface TimedFile {
  /** From the root of the repository. */
  readonly path: string
  /** The time of imports, hooks and tests. */
  readonly seconds: number
}

/** Writes a {@link RunRecord} as JSON when the run ends. */
export class RunRecorder implements Reporter {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { readonly message: string }[]): void {
    const states = modules.flatMap(({ children }) =>
      [...children.allTests()].map((test) => test.result().state),
    )
    const countOf = (state: string) => states.filter((each) => each === state).length
    const record: RunRecord = {
      passed: countOf('passed'),
      failed: countOf('failed'),
      skipped: countOf('skipped'),
      errors: [...modules.flatMap((module) => module.errors()), ...errors].map(({ message }) => message),
      files: modules.map((module) => ({ path: pathOf(module), seconds: secondsOf(module) })),
    }
    writeFileSync(this.#file, JSON.stringify(record))
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  return (collectDuration + setupDuration + duration) / 1000
}

/**
 * Files of test/README.md that took longest when they were last recorded: seconds by path.
 *
 * @param run `npm-test` or `soak`; a file of both has other seconds in each. Default: the tables of both, soak's last
 */
export function recordedSeconds(run = ''): ReadonlyMap<string, number> {
  const page = readFileSync(`${root}test/README.md`, 'utf8')
  const [begin, end] = ['<!-- ', '<!-- end of '].map((mark) => page.indexOf(`${mark}longest files of ${run}`))
  const rows = page.slice(begin, run === '' ? undefined : end).matchAll(/^\| `(\S+\.ts)` \| (\d+) \|/gm)
  return new Map([...rows].map(([, path, seconds]) => [`test/${path}`, Number(seconds)]))
}

/**
 * Starts the longest files first: those that start processes before those that do not, then by
 * {@link recordedSeconds}, then by size. A long file that begins last would run alone on one of the cores.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = recordedSeconds()
    const order = files.map((file) => ({
      file,
      project: projects.indexOf(file.project.name),
      seconds: seconds.get(pathOf(file)) ?? 0,
      bytes: statSync(file.moduleId).size,
    }))
    order.sort((a, b) => a.project - b.project || b.seconds - a.seconds || b.bytes - a.bytes)
    return order.map(({ file }) => file)
  }
}

/** Files of one project follow each other, since vitest reuses its process within a project only. */
const projects = ['system', 'soak', 'cases', 'unit', 'growing']

const pathOf = ({ moduleId }: { readonly moduleId: string }): string => relative(root, moduleId)
