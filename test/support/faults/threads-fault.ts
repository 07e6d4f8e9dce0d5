import { threadId } from 'node:worker_threads'
import type { Communicator } from 'rankweave'
import { faultProgram, victim } from './fault-program.js'
import type { Fault, Operation } from './fault-rows.js'
import { SharedNotes } from './shared-notes.js'
import { strikeOf } from './strike.js'

export interface ThreadsFaultArgs {
  readonly operation: Operation
  readonly fault: Fault
  /** What ranks have seen. */
  readonly notes: SharedArrayBuffer
  /** Where the victim writes the id of its thread when it may be terminated. */
  readonly ready: Int32Array
}

/** On threads: see {@link faultProgram}. */
export default async function main(world: Communicator, args: ThreadsFaultArgs): Promise<void> {
  const notes = new SharedNotes(args.notes)
  const strike = strikeOf(args.fault)
  await faultProgram(world, {
    operation: args.operation,
    stepsBefore: 2,
    stepsAfter: args.fault === 'detached array' ? 1 : null,
    detaches: args.fault === 'detached array',
    strike: (data) => {
      Atomics.store(args.ready, 0, threadId)
      strike(data)
    },
    tell: (seen) => notes.write(seen.rank, JSON.stringify(seen)),
  })
  if (world.rank === victim && args.fault === 'worker terminated') await new Promise(() => {})
}
