import type { MpiBulk } from './mpi-bulk.js'
import type { MpiInbox } from './mpi-inbox.js'
import type { MpiJob } from './mpi-job.js'
import { MpiMemory } from './mpi-memory.js'
import type { MpiOutbox } from './mpi-outbox.js'

/**
 * Receives and drops what is still in flight to a process that has closed, and frees MPI's requests. Every process of
 * the session takes part; the last one to close determines how long it takes.
 */
export async function drainSession(
  job: MpiJob,
  comm: number,
  outbox: MpiOutbox,
  inbox: MpiInbox,
  bulk: MpiBulk,
): Promise<void> {
  const { abi, calls, addressOf } = job.library
  const { processes } = job
  // `close` may have been called while a frame is being delivered.
  await turn()
  await until(() => {
    inbox.discard()
    outbox.flush()
    return !outbox.waiting
  })
  // The counts are, per process, messages with frames and messages of bulk transfers.
  const counts = new MpiMemory(64 + processes * 8, addressOf)
  const { address, words } = counts
  const [resultAt, requestAt, flagAt, sentAt] = [0, 16, 32, 64]
  for (let p = 0; p < processes; p++) {
    words[(sentAt >> 2) + 2 * p] = outbox.sentMessages[p]
    words[(sentAt >> 2) + 2 * p + 1] = bulk.sentMessages[p]
  }
  calls.ireduceScatterBlock(
    address + sentAt,
    address + resultAt,
    2,
    abi.int,
    abi.sum,
    comm,
    address + requestAt,
  )
  const agreed = () => {
    if (words[flagAt >> 2] === 0) calls.test(address + requestAt, address + flagAt, abi.statusIgnore)
    return words[flagAt >> 2] !== 0
  }
  await until(() => {
    while (inbox.discard());
    if (bulk.moving) bulk.progress()
    return agreed() && inbox.received === words[0] && outbox.drained()
  })
  inbox.close()
  await until(() => bulk.drained(words[1]))
}

/** The number of turns of the event loop before a timer polls instead. */
const eagerTurns = 200

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    await new Promise((resolve) => {
      if (turn < eagerTurns) setImmediate(resolve)
      else setTimeout(resolve, 1)
    })
  }
}
