import { loadMailboxDesignsBy } from '../../messages/mailboxes/mailbox.js'
import type { MatchingOptions } from '../../messages/process/matching-options.js'
import type { OnlineOptions } from '../../tuning/online/online-process.js'
import type { UserProgram } from '../../world/user-program.js'
import type { RunningWorld } from '../../world/world.js'

/**
 * Returns the program of a world that learns from its calls: when its ranks have returned, the process of rank 0 writes
 * what was recorded. Returns the program itself if nothing is recorded.
 */
export async function withCallRecords<T, A>(
  program: UserProgram<T, A>,
  online: OnlineOptions | undefined,
): Promise<UserProgram<T, A>> {
  if (online === undefined) return program
  // The module is loaded only if something is recorded.
  const { recordedProgram } = await import('./recorded-calls.js')
  const { writeCallFile } = await import('./recorded-calls.js')
  return recordedProgram(program, online.source, (file) => writeCallFile(online.folder, file))
}

/**
 * Runs a part of a world, and writes the records of matching of its ranks, however it ends.
 *
 * @param world once it runs
 * @throws what `run` throws; else ERR_FILE
 */
export async function withMatchingTraces<T>(
  { trace }: MatchingOptions = {},
  world: () => RunningWorld | undefined,
  run: () => Promise<T>,
): Promise<T> {
  if (trace === undefined) return run()
  const write = async () => {
    const running = world()
    if (running === undefined) return
    // The module is loaded only if something is recorded.
    const { writeMatchingTraces } = await import('./matching-trace-files.js')
    await writeMatchingTraces(trace, running)
  }
  let result: T
  try {
    result = await run()
  } catch (error) {
    // The first error counts.
    await write().catch(() => {})
    throw error
  }
  await write()
  return result
}

/** Lets worlds of this program choose the design of their mailboxes. Idempotent. */
export function installMailboxDesigns(): void {
  loadMailboxDesignsBy(() => import('../../messages/mailboxes/design-list.js'))
}
