// Loaded before tests that run in one thread: starting a worker or a process fails there, so the names of
// test files stay true.
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'

function refuse(what: string): never {
  throw new Error(
    `this test starts a ${what}: its file is to be named *.workers.test.ts or *.processes.test.ts (test/README.md)`,
  )
}

for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const) {
  childProcess[name] = (() => refuse('process')) as never
}
workerThreads.Worker = class {
  constructor() {
    refuse('worker')
  }
} as never
syncBuiltinESMExports()
