// Starts and ends worlds on threads, in every way they can end, and reports what is left behind. Run with
// --expose-gc:
//   node --expose-gc test/support/leaks.mjs WORLDS
import { readdirSync } from 'node:fs'
import { argv, getActiveResourcesInfo, memoryUsage, platform } from 'node:process'
import { setTimeout as later } from 'node:timers/promises'
import * as v8 from 'node:v8'
import { MessagePort, Worker } from 'node:worker_threads'
import { run, threads } from '../../dist/entry/index.js'

const ends = {
  returned: undefined,
  thrown: 'TypeError',
  'left behind': undefined,
  aborted: 'ERR_WORLD_ABORTED',
  uncaught: 'ERR_PEER_LOST',
  signal: 'ERR_ABORTED',
  exited: 'ERR_PEER_LOST',
  stuck: 'ERR_DEADLOCK',
  'signal at once': 'ERR_ABORTED',
  'signal while loading': 'ERR_ABORTED',
  'no program': 'ERR_PROGRAM',
}
const names = Object.keys(ends)
const program = new URL('./leaks-program.mjs', import.meta.url)
const noProgram = new URL('./no-such-program.mjs', import.meta.url)

/** Worlds of 1, 2 and 3 processes, the last of them alone on its rank, so that it can be lost. */
const layouts = [[3], [2, 1], [2, 0, 1]]

async function oneWorld(n) {
  const end = names[n % names.length]
  const abort = new AbortController()
  // A lost process 0 ends the world for all; that is another error than the loss of any other.
  const ranksPerProcess = layouts[ends[end] === 'ERR_PEER_LOST' ? 1 + (n % 2) : n % 3]
  const world = run(end === 'no program' ? noProgram : program, {
    ranks: 3,
    fabric: threads({ ranksPerProcess }),
    args: { end: end.startsWith('signal') ? 'signal' : end },
    signal: abort.signal,
    detectDeadlock: end === 'stuck',
  })
  if (end === 'signal at once') abort.abort('enough')
  if (end === 'signal') setTimeout(() => abort.abort('enough'), 100)
  if (end === 'signal while loading') setTimeout(() => abort.abort('enough'), (n * 7) % 80)
  const got = await world.then(
    () => undefined,
    (error) => error.code ?? error.name,
  )
  if (got !== ends[end]) throw new Error(`world ${n} (${end}): expected ${ends[end]}, got ${got}`)
}

/** What this process holds, once everything that is garbage has been collected. */
async function held() {
  let now
  // What a worker leaves is let go in tasks of its own; a few turns bring it to rest.
  for (let round = 0; round < 10; round++) {
    globalThis.gc()
    await later(10)
    now = memoryUsage()
  }
  return {
    resources: getActiveResourcesInfo().sort().join(),
    threads: platform === 'linux' ? readdirSync('/proc/self/task').length : 0,
    files: platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
    workers: alive(Worker),
    ports: alive(MessagePort),
    shared: alive(SharedArrayBuffer),
    sharedBytes: now.arrayBuffers,
    heapBytes: now.heapUsed,
    residentBytes: now.rss,
  }
}

/** Objects of a class that have not been collected; Node reports it since 20.13. */
const alive = (ofClass) => v8.queryObjects?.(ofClass) ?? 0

const worlds = Number(argv[2])
const warmUp = 2 * names.length
for (let n = 0; n < warmUp; n++) await oneWorld(n)
const before = await held()
for (let n = 0; n < worlds; n++) await oneWorld(n)
console.log(JSON.stringify({ worlds, before, after: await held() }))
