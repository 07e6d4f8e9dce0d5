import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { LongestFirst, RunRecorder } from './test/support/test-times.js'

/** `import 'rankweave'` in tests: the entries in a folder, as files with that extension. */
function entriesIn(folder: string, extension: string) {
  const entry = (name: string) => `${fileURLToPath(new URL(folder, import.meta.url))}/${name}.${extension}`
  return [
    { find: /^rankweave$/, replacement: entry('index') },
    { find: /^rankweave\/(\w+)$/, replacement: entry('$1') },
  ]
}

/** `.ci/run` asks for a record to count from. */
const recordFile = process.env['RANKWEAVE_TEST_RECORD']

// Commands that tests start keep what they compile in the checkout, not in the home of who runs the tests.
process.env['XDG_CACHE_HOME'] = fileURLToPath(new URL('.compiled/cache/', import.meta.url))

/** What every run shares, that of `npm run soak` too. */
export const base = {
  test: {
    reporters: recordFile === undefined ? ['default'] : ['default', new RunRecorder(recordFile)],
    pool: 'forks',
    // As many files at a time as there are cores; vitest itself leaves one of two cores idle.
    maxWorkers: Math.max(2, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // Generous ceilings that only stop a hang: no test measures time.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    setupFiles: ['test/support/same-bits.ts'],
  },
} satisfies ViteUserConfig

/**
 * What tests import of `src` by a relative path: each module of `src` compiled for itself
 * (test/support/compile-sources.ts).
 */
const modules = {
  find: /^(\.\.\/)+src\//,
  replacement: fileURLToPath(new URL('.compiled/', import.meta.url)),
}

/** For tests of modules: the library from source, like everything these tests import. */
export const fromSource = {
  resolve: { alias: [...entriesIn('.compiled/entry', 'js'), modules] },
  test: {
    server: { deps: { external: [/\/\.compiled\//] } },
    globalSetup: ['test/support/compile-sources.ts'],
  },
} satisfies ViteUserConfig

/**
 * For tests that start workers and processes: the library as users get it. From source every one of them
 * would compile it for itself, which takes ten times as long as loading it.
 */
export const asBuilt = {
  resolve: { alias: [...entriesIn('dist/entry', 'js'), modules] },
  test: {
    server: { deps: { external: [/\/(dist|\.compiled)\//] } },
    globalSetup: [
      'test/support/compile-sources.ts',
      'test/support/build-library.ts',
      'test/support/find-mpi.ts',
    ],
  },
} satisfies ViteUserConfig

/** Names of test files that start worker threads or processes. */
export const starting = ['test/**/*.workers.test.ts', 'test/**/*.processes.test.ts']

/**
 * What `npm run check` leaves to `npm test`: whole commands, each of which runs what the tests of other rooms check in
 * parts, and files above two seconds of a core that search, measure or make worlds over and over.
 */
const beyondCheck = [
  'test/unit/cli/commands/**/*.test.ts',
  'test/unit/**/aborted-buffers.test.ts',
  'test/unit/**/calibrate.test.ts',
  'test/unit/**/choose-algorithm.test.ts',
  'test/unit/**/choose-strategy.test.ts',
  'test/unit/**/machine-choices.test.ts',
  'test/unit/**/make-study.test.ts',
  'test/unit/**/map-by-simulated-time.test.ts',
  'test/unit/**/online.test.ts',
  'test/unit/**/plan-from.test.ts',
  'test/unit/**/reorder-in-parts.test.ts',
  'test/unit/**/schedule-size.test.ts',
  'test/unit/**/distributed/unplaced.test.ts',
  'test/unit/**/world-meter.test.ts',
]

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [
      {
        ...fromSource,
        extends: true,
        test: {
          ...fromSource.test,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: [...starting, ...beyondCheck],
          setupFiles: [...base.test.setupFiles, 'test/support/start-nothing.ts'],
          // The library is loaded once per vitest worker instead of once per file.
          isolate: false,
        },
      },
      {
        ...fromSource,
        extends: true,
        test: {
          ...fromSource.test,
          name: 'cases',
          include: ['test/{conformance,faults,paper,property}/**/*.test.ts', ...beyondCheck],
          exclude: starting,
          setupFiles: [...base.test.setupFiles, 'test/support/start-nothing.ts'],
          isolate: false,
        },
      },
      {
        ...asBuilt,
        extends: true,
        test: {
          ...asBuilt.test,
          name: 'system',
          isolate: false,
          include: [...starting, 'test/*.test.ts'],
        },
      },
    ],
  },
})
