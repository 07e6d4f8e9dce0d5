// The suites of this repository as the bench `mutants` runs them in its copy: in the order that it asks for, and with a
// report that it reads.
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type ConfigEnv, defineConfig, type UserWorkspaceConfig } from 'vitest/config'
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node'
import test from '../../../vitest.config.js'
import soak from '../../../vitest.soak.config.js'
import { mutantRun, type TestedFile } from './mutant-run.js'

const { suite, report, hits, limits } = mutantRun()
const limitOf = new Map(limits)
/** A machine that runs two mutants at a time is slow, and limits tell what hangs. */
const patient = { testTimeout: 1_500_000, hookTimeout: 1_500_000 }
const pathOf = (moduleId: string): string => relative('.', moduleId)

class AsAsked extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const order = [...limitOf.keys()]
    const place = ({ moduleId }: TestSpecification) => order.indexOf(pathOf(moduleId))
    return specifications.sort((a, b) => place(a) - place(b))
  }
}

/** Reports how each test file ends, and ends the run at the first that fails or hangs where limits are given. */
class Report implements Reporter {
  readonly #clocks = new Map<string, NodeJS.Timeout>()

  onTestModuleQueued({ moduleId }: TestModule): void {
    const limit = limitOf.get(pathOf(moduleId))
    if (limit === undefined) return
    const late = () => this.#end({ path: pathOf(moduleId), state: 'late', seconds: limit })
    this.#clocks.set(moduleId, setTimeout(late, limit * 1000))
  }

  onTestModuleEnd(module: TestModule): void {
    clearTimeout(this.#clocks.get(module.moduleId))
    const state = module.state() as 'passed' | 'failed' | 'skipped'
    const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
    const seconds = (prepareDuration + setupDuration + collectDuration + duration) / 1000
    this.#end({ path: pathOf(module.moduleId), state, seconds })
  }

  #end(file: TestedFile): void {
    appendFileSync(report, `${JSON.stringify(file)}\n`)
    if (limits !== undefined && (file.state === 'failed' || file.state === 'late')) process.exit(1)
  }
}

export default defineConfig(async (env: ConfigEnv) => {
  const chosen = suite === 'soak' ? await soak(env) : test
  const setupFiles = hits === undefined ? [] : ['bench/mutants/in-copy/name-test-file.ts']
  const projects = chosen.test!.projects as UserWorkspaceConfig[]
  return {
    ...chosen,
    cacheDir: '.vite',
    test: {
      ...chosen.test,
      reporters: ['default', new Report()],
      ...(limits === undefined ? {} : { sequence: { sequencer: AsAsked } }),
      projects: projects.map((project) => ({
        ...project,
        test: {
          ...project.test,
          ...patient,
          setupFiles: [...setupFiles, ...[project.test?.setupFiles ?? []].flat()],
        },
      })),
    },
  }
})
