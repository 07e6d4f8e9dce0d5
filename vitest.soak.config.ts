import { defineConfig, mergeConfig } from 'vitest/config'
import everyday from './vitest.config.js'

const include = ['test/property/**/*.test.ts', 'test/soak/**/*.soak.ts']

/** The property tests again with many more random cases, and what is too long for every day. */
const soak = mergeConfig(everyday, {
  test: {
    env: { RANKWEAVE_SOAK_FACTOR: process.env['RANKWEAVE_SOAK_FACTOR'] ?? '20' },
    passWithNoTests: true,
    testTimeout: 1_500_000,
  },
})

// Merging would add to the list of files; these replace it.
export default defineConfig({ ...soak, test: { ...soak['test'], include } })
