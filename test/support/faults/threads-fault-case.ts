import type { Worker } from 'node:worker_threads'
import { run, threads } from 'rankweave'
import { compiledUrl } from '../compiled.js'
import { type FaultEnd, faultEnd } from './fault-end.js'
import { victim } from './fault-program.js'
import type { FaultRow } from './fault-rows.js'
import { SharedNotes } from './shared-notes.js'
import type { ThreadsFaultArgs } from './threads-fault.js'

const program = compiledUrl('faults/threads-fault.ts')

/** One row on `threads`: three workers, the last of which fails. */
export async function runThreadsFault({ operation, fault }: FaultRow): Promise<FaultEnd> {
  const notes = new SharedNotes(3)
  const ready = new Int32Array(new SharedArrayBuffer(4))
  const workers: Worker[] = []
  const onWorker = (worker: Worker) => void workers.push(worker)
  process.on('worker', onWorker)
  const args: ThreadsFaultArgs = { operation, fault, notes: notes.memory, ready }
  const fabric = threads({ processes: 3, ringBytes: 2 ** 16, resourceLimits: { maxOldGenerationSizeMb: 64 } })
  let ended = false
  try {
    const world = run(program, { ranks: 3, fabric, args }).finally(() => {
      ended = true
    })
    if (fault === 'worker terminated') void terminate(workers, ready, () => ended)
    return await faultEnd(world, () => notes.read())
  } finally {
    process.off('worker', onWorker)
  }
}

async function terminate(workers: readonly Worker[], ready: Int32Array, ended: () => boolean): Promise<void> {
  while (Atomics.load(ready, 0) === 0 && !ended()) await new Promise((resolve) => setTimeout(resolve, 5))
  await workers[victim]?.terminate()
}
