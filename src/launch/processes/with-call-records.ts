import type { OnlineOptions } from '../../tuning/online/online-process.js'
import type { UserProgram } from '../../world/user-program.js'

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
  const { recordedProgram } = await import('./recorded-program.js')
  const { writeCallFile } = await import('./call-files.js')
  return recordedProgram(program, online.source, (file) => writeCallFile(online.folder, file))
}
