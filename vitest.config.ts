import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const entry = (name: string) => `${fileURLToPath(new URL('src/entry', import.meta.url))}/${name}.ts`

/** `.ci/run` asks for a report to count from. */
const reportFile = process.env['RANKWEAVE_TEST_REPORT']

/** What every run shares, that of `npm run soak` too. */
export const base = {
  resolve: {
    alias: [
      { find: /^rankweave$/, replacement: entry('index') },
      { find: /^rankweave\/(\w+)$/, replacement: entry('$1') },
    ],
  },
  test: {
    reporters: reportFile === undefined ? ['default'] : ['default', ['json', { outputFile: reportFile }]],
    pool: 'forks',
    // Two files at a time, also on two cores, where vitest's own choice is one.
    maxWorkers: 2,
    // Generous ceilings that only stop a hang: no test measures time.
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
} satisfies ViteUserConfig

/** Names of test files that start worker threads or processes. */
export const starting = ['test/**/*.workers.test.ts', 'test/**/*.processes.test.ts']

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: starting,
          setupFiles: ['test/support/start-nothing.ts'],
          // The library is loaded once per vitest worker instead of once per file.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'cases',
          include: ['test/{conformance,paper,property}/**/*.test.ts'],
          exclude: starting,
          setupFiles: ['test/support/start-nothing.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: [...starting, 'test/*.test.ts'],
          globalSetup: ['test/support/find-mpi.ts'],
        },
      },
    ],
  },
})
