import { fstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RankweaveError } from '../../errors.js'
import { chunksOf, removeUnfinishedFiles, requireWritable, writeWholeFile } from '../../text/whole-file.js'
import type { Reporter } from './reporter.js'
import { objectOf, type ResultRow, textOf } from './result-rows.js'

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

/**
 * Writes bytes beside a file that was written, under its name with an ending. Pipes and devices have nothing beside
 * them.
 *
 * @throws ERR_FILE
 */
export async function writeBeside(file: string, ending: string, bytes: Uint8Array): Promise<void> {
  if (isStandardOutput(file) || !statSync(file).isFile()) return
  await removingFileOnSignal(() => writeWholeFile(`${file}${ending}`, bytes))
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

/** Reports rows as {@link reportBeside} does, below a heading and above further lines of the text. */
export function reportRowsBeside(
  report: Reporter,
  file: string | undefined,
  rows: readonly ResultRow[],
  heading: string,
  ...more: readonly string[]
): void {
  reportBeside(report, file, objectOf(rows), [textOf(rows, heading), ...more].join('\n'))
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

/** A file by the option that names it; an input may be `-`, standard input. */
export interface NamedFile {
  readonly option: string
  readonly file: string
}

/**
 * Refuses an output that is also an input or another output, by any path, symbolic link or hard link. Devices may be
 * used several times.
 *
 * @throws ERR_USAGE naming both
 */
export function requireDistinctFiles(outputs: readonly NamedFile[], inputs: readonly NamedFile[]): void {
  const known: (NamedFile & { readonly identity: string })[] = inputs.flatMap((input) =>
    identitiesOf(input.file, true).map((identity) => ({ ...input, identity })),
  )
  for (const output of outputs) {
    const identities = isStandardOutput(output.file) ? [] : identitiesOf(output.file, false)
    const same = known.find(({ identity }) => identities.includes(identity))
    if (same !== undefined) {
      const message = `expected different files, got ${same.option} ${same.file} and ${output.option} ${output.file}`
      throw new RankweaveError('ERR_USAGE', message)
    }
    for (const identity of identities) known.push({ ...output, identity })
  }
}

/** Returns the identities of a file: its number on its device if it exists, else its path without links. */
function identitiesOf(file: string, isInput: boolean): readonly string[] {
  try {
    const status = isInput && file === '-' ? fstatSync(0, { bigint: true }) : statSync(file, { bigint: true })
    return status.isFile() ? [`${status.dev} ${status.ino}`] : []
  } catch {
    // The reader refuses unreadable inputs later.
    return isInput ? [] : newPathOf(file)
  }
}

function newPathOf(file: string): readonly string[] {
  try {
    return [join(realpathSync(dirname(file)), basename(file))]
  } catch {
    return []
  }
}
