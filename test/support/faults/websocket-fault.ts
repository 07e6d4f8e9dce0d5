import type { Communicator } from 'rankweave'
import { faultProgram } from './fault-program.js'
import type { Fault, Operation } from './fault-rows.js'
import { FileNotes } from './file-notes.js'
import { strikeOf } from './strike.js'

export interface WebSocketFaultArgs {
  readonly operation: Operation
  readonly fault: Fault
  readonly victim: number
  /** Folder for notes: `pid-RANK`, `struck` and `seen-RANK`. */
  readonly notes: string
}

/** On websocket: see {@link faultProgram}. */
export default async function main(world: Communicator, args: WebSocketFaultArgs): Promise<void> {
  const { operation, fault, victim } = args
  const notes = new FileNotes(args.notes)
  notes.write(`pid-${world.rank}`, String(process.pid))
  const strike = strikeOf(fault)
  await faultProgram(world, {
    operation,
    victim,
    stepsBefore: 2,
    stepsAfter: fault === 'slow reader' ? 2 : null,
    strike: () => {
      notes.write('struck', 'now')
      strike()
    },
    tell: (seen) => notes.write(`seen-${seen.rank}`, JSON.stringify(seen)),
  })
}
