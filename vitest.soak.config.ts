import { defineConfig } from 'vitest/config'
import { asBuilt, base, fromSource } from './vitest.config.js'

const soaking = {
  env: { RANKWEAVE_SOAK_FACTOR: process.env['RANKWEAVE_SOAK_FACTOR'] ?? '20' },
  testTimeout: 1_500_000,
}

/** The property tests again with many more random cases, and what is too long for every day. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [
      {
        ...fromSource,
        extends: true,
        test: { ...soaking, name: 'property', include: ['test/property/**/*.test.ts'] },
      },
      {
        ...asBuilt,
        extends: true,
        test: { ...asBuilt.test, ...soaking, name: 'soak', include: ['test/soak/**/*.soak.ts'] },
      },
    ],
  },
})
