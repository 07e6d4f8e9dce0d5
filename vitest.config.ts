import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (name: string) => fileURLToPath(new URL(`src/${name}.ts`, import.meta.url))

/** `.ci/run` asks for a report to count from. */
const reportFile = process.env['RANKWEAVE_TEST_REPORT']

export default defineConfig({
  resolve: {
    alias: [
      { find: /^rankweave$/, replacement: source('index') },
      { find: /^rankweave\/conformance$/, replacement: source('conformance') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: reportFile === undefined ? ['default'] : ['default', ['json', { outputFile: reportFile }]],
    // Two cores and real work per file: generous ceilings that only stop a hang, no test measures time.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
})
