import type { Communicator } from '../handles/communicator.js'
import { collectiveForms } from './collective-forms.js'
import { same } from './collective-oracles.js'
import { checkCalls, checkPersistentStarts, checkStarts } from './forms.js'
import { oddTuning } from './odd-tuning.js'
import type { WorldCase } from './world-case.js'

const lengths = [3, 300]

/**
 * Calls each collective; then starts all and waits for them together with messages. Runs on the world and on its ranks
 * reversed.
 */
async function checkStarted(world: Communicator): Promise<void> {
  for (const comm of [world, await world.split(0, -world.rank)]) {
    const { rank, size } = comm
    const before = (rank + size - 1) % size
    for (const length of lengths) {
      const forms = collectiveForms(comm, length)
      await checkCalls(comm, forms)
      const sent = comm.isend(
        Int32Array.from({ length }, (_, i) => rank + i),
        (rank + 1) % size,
        5,
      )
      const received = comm.irecv(before, 5, { into: new Int32Array(length) })
      await checkStarts(comm, forms, [sent, received])
      const expected = Int32Array.from({ length }, (_, i) => before + i)
      same((await received.wait()).data, expected, 'irecv')
    }
    if (comm !== world) await comm.free()
  }
}

/** Binds all persistent collectives, and then starts them together with new data. */
async function checkPersistent(world: Communicator): Promise<void> {
  for (const length of lengths) await checkPersistentStarts(world, collectiveForms(world, length), 3)
}

/**
 * The settings: with all messages sent at once, with those of 300 elements offered, and by algorithms that the rule
 * never chooses.
 */
const settings = [{}, { eagerLimitBytes: 1000, creditBytes: 100 }, { tuning: oddTuning() }]

export const formChecks: readonly WorldCase[] = [
  {
    name: 'collectives that are started are waited for together with messages',
    settings,
    check: checkStarted,
  },
  {
    name: 'persistent collectives read and fill their buffers at every start',
    settings,
    check: checkPersistent,
  },
]
