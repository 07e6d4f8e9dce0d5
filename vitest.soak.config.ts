import { defineConfig } from 'vitest/config'
import { base } from './vitest.config.js'

/** The property tests again with many more random cases, and what is too long for every day. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/property/**/*.test.ts', 'test/soak/**/*.soak.ts'],
    env: { RANKWEAVE_SOAK_FACTOR: process.env['RANKWEAVE_SOAK_FACTOR'] ?? '20' },
    globalSetup: ['test/support/find-mpi.ts'],
    testTimeout: 1_500_000,
  },
})
