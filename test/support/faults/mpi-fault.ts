import type { Communicator } from 'rankweave'
import { faultProgram } from './fault-program.js'
import type { Fault, Operation } from './fault-rows.js'
import { FileNotes } from './file-notes.js'
import { strikeOf } from './strike.js'

/** Calls of every rank from the fault on; a rank that has transferred its array has no second one. */
const stepsAfter: Partial<Record<Fault, number>> = { 'process stopped': 20, 'detached array': 1 }

/** On MPI, as a program of the command: folder for notes, operation, fault. */
export default async function main(
  world: Communicator,
  [folder, operation, fault]: readonly string[],
): Promise<void> {
  const notes = new FileNotes(folder)
  const strike = strikeOf(fault as Fault)
  await faultProgram(world, {
    operation: operation as Operation,
    stepsBefore: 2,
    stepsAfter: stepsAfter[fault as Fault] ?? null,
    detaches: fault === 'detached array',
    strike: (data) => {
      notes.write('struck', String(process.pid))
      strike(data)
      if (fault === 'process killed') process.kill(process.pid, 'SIGKILL')
      // Goes on here once somebody has continued it.
      if (fault === 'process stopped') process.kill(process.pid, 'SIGSTOP')
    },
    tell: (seen) => notes.write(`seen-${seen.rank}`, JSON.stringify(seen)),
  })
}
