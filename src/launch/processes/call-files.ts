import { join } from 'node:path'
import { reasonText } from '../../errors.js'
import { writeWholeFile } from '../../text/whole-file.js'

/** The ending of names of files in which runs write their calls. */
export const callFileEnding = '.calls'

/**
 * Writes the file of a run: whole, or not at all. Two runs never write one file. If it cannot be written, the run warns
 * and still has its results.
 */
export async function writeCallFile(folder: string, file: Uint8Array): Promise<void> {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const path = join(folder, `run-${time}-${crypto.randomUUID().slice(0, 8)}${callFileEnding}`)
  try {
    await writeWholeFile(path, file)
  } catch (error) {
    warnOfLostCalls(error)
  }
}

/** Warns that a run has its results, but no file. */
export function warnOfLostCalls(error: unknown): void {
  process.emitWarning(`the calls of this run are not recorded: ${reasonText(error)}`, {
    type: 'RankweaveWarning',
    code: 'RANKWEAVE_CALLS',
  })
}
