import type { Communicator } from 'rankweave'
import { faultProgram } from './fault-program.js'
import type { Fault, Operation } from './fault-rows.js'
import { FileNotes } from './file-notes.js'
import { strikeOf } from './strike.js'

/** What processes hold of each other when one of them exceeds it. */
export const heldBytes = 2 ** 20

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
    detaches: fault === 'detached array',
    strike: (data) => {
      notes.write('struck', 'now')
      strike(data)
      if (fault === 'over-credit') exceedCredit(world)
    },
    tell: (seen) => notes.write(`seen-${seen.rank}`, JSON.stringify(seen)),
  })
}

/** Messages that no receive takes, more than any survivor would hold. */
function exceedCredit(world: Communicator): void {
  const data = new Float64Array(1000)
  for (let n = 0; n * data.byteLength <= heldBytes; n++) {
    for (const dest of [0, 1])
      world
        .isend(data, dest, 3)
        .wait()
        .catch(() => {})
  }
}
