import { RankweaveError } from '../../errors.js'
import { chunksOf, removeUnfinishedFiles, requireWritable, writeWholeFile } from '../../text/whole-file.js'
import type { Reporter } from './reporter.js'

/** Returns whether a name means standard output. */
export function isStandardOutput(file: string | undefined): boolean {
  return file === '-'
}

/**
 * Checks outputs before the work of which they are the result.
 *
 * @throws ERR_USAGE if the one object of --json and a file would be on standard output
 * @throws ERR_FILE for a file that cannot be written
 */
export async function checkOutputs(
  report: Reporter,
  ...files: readonly (string | undefined)[]
): Promise<void> {
  const count = files.filter(isStandardOutput).length
  if (count > 1) throw new RankweaveError('ERR_USAGE', 'expected one output on standard output, got two')
  if (count === 1 && report.json) {
    const message = '--json: expected a file as output, got -: standard output takes the object'
    throw new RankweaveError('ERR_USAGE', message)
  }
  for (const file of files) {
    if (file !== undefined && !isStandardOutput(file)) await requireWritable(file)
  }
}

/** Writes a file that the user named, complete or not at all; `-` is standard output. @throws ERR_FILE */
export async function writeOutput(report: Reporter, file: string, pieces: Iterable<string>): Promise<void> {
  if (!isStandardOutput(file)) return await removingFileOnSignal(() => writeWholeFile(file, pieces))
  for (const chunk of chunksOf(pieces)) report.streams.stdout(chunk)
}

/** Reports the result, on standard error if standard output takes a file. */
export function reportBeside(
  report: Reporter,
  file: string | undefined,
  object: unknown,
  text: string,
): void {
  if (isStandardOutput(file)) report.note(text)
  else report.result(object, text)
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs `write` so that a signal which ends the process removes the temporary file before. */
async function removingFileOnSignal(write: () => Promise<void>): Promise<void> {
  const end = (signal: NodeJS.Signals) => {
    removeUnfinishedFiles()
    for (const ending of endings) process.off(ending, end)
    process.kill(process.pid, signal)
  }
  for (const ending of endings) process.on(ending, end)
  try {
    await write()
  } finally {
    for (const ending of endings) process.off(ending, end)
  }
}
