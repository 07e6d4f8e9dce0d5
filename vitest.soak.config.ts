import { execFileSync } from 'node:child_process'
import { defineConfig } from 'vitest/config'
import { PassedFiles } from './test/support/passed-files.js'
import { asBuilt, base, fromSource } from './vitest.config.js'

/** Files of `npm test` that have more cases here. */
const growing = [
  'test/property/**/*.test.ts',
  'test/paper/**/*.test.ts',
  'test/faults/local-faults.test.ts',
  'test/conformance/fabric-local.test.ts',
  'test/conformance/world.test.ts',
  'test/conformance/world-local.test.ts',
  'test/unit/calls/detached-inputs.test.ts',
  'test/unit/comm/survive/random-kills.test.ts',
  'test/unit/service/worlds/fuzz.test.ts',
]
const soak = [
  'test/**/*.soak.ts',
  'test/faults/threads-faults.workers.test.ts',
  'test/faults/websocket-faults.processes.test.ts',
  'test/faults/two-hosts.processes.test.ts',
  'test/conformance/mpi.processes.test.ts',
  'test/conformance/spmm-threads.workers.test.ts',
  'test/conformance/world-threads.workers.test.ts',
  'test/conformance/world-websocket.processes.test.ts',
  'test/unit/launch/websocket/launcher.processes.test.ts',
  'test/jacobi-survivor.test.ts',
  'test/package.test.ts',
  'test/readme.test.ts',
  'test/unit/cli/commands/mpi-info.processes.test.ts',
  'test/unit/cli/commands/run.processes.test.ts',
  'test/unit/calls/tuned-messages.workers.test.ts',
  'test/unit/comm/table/shared-tables.workers.test.ts',
  'test/unit/export/exported-c.processes.test.ts',
  'test/unit/export/waits.processes.test.ts',
  'test/unit/launch/diagnose.processes.test.ts',
  'test/unit/launch/mpi-*.processes.test.ts',
  'test/unit/launch/online.processes.test.ts',
  'test/unit/messages/process/cancelled-transfers.processes.test.ts',
  'test/unit/shim/matching.processes.test.ts',
  'test/unit/shim/shim.processes.test.ts',
  'test/unit/topology-communicator/**/*.processes.test.ts',
]

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
          test: { ...fromSource.test, ...soaking, name: 'growing', include: growing },
        },
        {
          ...asBuilt,
          extends: true as const,
          test: { ...asBuilt.test, ...soaking, name: 'soak', include: soak },
        },
      ],
    },
  }
})
