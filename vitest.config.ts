import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const entry = (name: string) => `${fileURLToPath(new URL('src/entry', import.meta.url))}/${name}.ts`

/** `.ci/run` asks for a report to count from. */
const reportFile = process.env['RANKWEAVE_TEST_REPORT']

export default defineConfig({
  resolve: {
    alias: [
      { find: /^rankweave$/, replacement: entry('index') },
      { find: /^rankweave\/(\w+)$/, replacement: entry('$1') },
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
