import type { OnlineOptions } from '../../tuning/online/online-options.js'
import type { UserProgram } from '../../world/user-program.js'

/**
 * The program of a world that learns from its calls: when its ranks have returned, the process of rank 0 writes what was
 * recorded. The program itself where nothing is.
 */
export async function withCallRecords<T, A>(
  program: UserProgram<T, A>,
  online: OnlineOptions | undefined,
): Promise<UserProgram<T, A>> {
  if (online === undefined) return program
  // Loaded only where something is recorded.
  const { recordedProgram } = await import('./recorded-program.js')
  const { writeCallFile } = await import('./call-files.js')
  return recordedProgram(program, online.source, (file) => writeCallFile(online.folder, file))
}
