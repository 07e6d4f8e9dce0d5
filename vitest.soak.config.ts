import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { PassedFiles } from './test/support/passed-files.js'
import { asBuilt, base, fromSource } from './vitest.config.js'

/** Files of `npm test` that have more cases here: those that take their number from test/support/soak.ts. */
const growing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((name) => name.endsWith('.test.ts') && /\/soak\.js'/.test(readFileSync(name, 'utf8')))
const usesBuild = (name: string) =>
  /\.(workers|processes)\.test\.ts$/.test(name) || /^test\/[^/]+$/.test(name)

/** 31 bits of the commit that is checked out; 1 where git is missing. */
function seedOfCommit(): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' })
    return Number.parseInt(commit.slice(0, 8), 16) >>> 1
  } catch {
    return 1
  }
}

/**
 * `npm run soak`: every class of cases, and few of each. `npm run soak:long` (mode `long`): all of them;
 * started again on the same commit, it leaves out the files that have passed.
 */
export default defineConfig(({ mode }) => {
  const isLong = mode === 'long'
  const passed = isLong ? PassedFiles.ofCommit() : undefined
  const soaking = {
    env: {
      RANKWEAVE_TIER: isLong ? 'long' : 'soak',
      RANKWEAVE_SOAK_SEED: process.env['RANKWEAVE_SOAK_SEED'] ?? String(seedOfCommit()),
    },
    exclude: [...(passed?.paths ?? [])],
    testTimeout: 1_500_000,
    hookTimeout: 1_500_000,
    // Each starts processes, and some tell a process that waits for a core from one that is lost.
    maxConcurrency: 3,
  }
  return {
    ...base,
    test: {
      ...base.test,
      reporters: [...base.test.reporters, ...(passed === undefined ? [] : [passed])],
      passWithNoTests: isLong,
      projects: [
        {
          ...fromSource,
          extends: true as const,
          test: {
            ...fromSource.test,
            ...soaking,
            name: 'growing',
            include: growing.filter((name) => !usesBuild(name)),
          },
        },
        {
          ...asBuilt,
          extends: true as const,
          test: {
            ...asBuilt.test,
            ...soaking,
            name: 'soak',
            include: ['test/**/*.soak.ts', ...growing.filter(usesBuild)],
          },
        },
      ],
    },
  }
})
