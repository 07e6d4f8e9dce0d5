import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { getOrAdd } from '../../base/maps.js'
import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import { callFileEnding } from '../../launch/processes/recorded-calls.js'
import { readText } from '../../text/byte-source.js'
import { printable } from '../../text/printable.js'
import { fileError } from '../../text/whole-file.js'
import { type Measurement, readMeasurements } from '../../tuning/measured/measurement.js'
import { type CallFile, callFileLimits } from '../../tuning/online/call-file.js'
import { recordBytes } from '../../tuning/online/call-records.js'
import { readCallFile } from '../../tuning/online/read-call-file.js'
import { openInput } from './open-input.js'

interface CallFolder {
  /** The runs by name of file, in the order of names, each with one record for every call. */
  readonly runs: ReadonlyMap<string, CallFile>
  /** The files that are not used, each with its reason: unfinished, or damaged since. */
  readonly refused: readonly string[]
}

/**
 * The limits of a folder, and of each file. Entries are calls, communicators, and settings of lists that differ from
 * file to file.
 */
const callFolderLimits = {
  files: 4096,
  entries: 2 ** 22,
  fileBytes: callFileLimits.headerBytes + callFileLimits.records * recordBytes,
} as const

/**
 * Reads the files of calls in a folder, `*.calls`. A damaged file affects no other.
 *
 * Memory: about 200 bytes an entry, of which there are at most 2^22, and one file at a time.
 *
 * @throws ERR_FILE for a folder that cannot be read, and for more than 4,096 files
 * @throws ERR_MEASUREMENT for runs of two sources, naming a file of each; for a file with which there are too many
 *   entries
 */
export function readCallFolder(folder: string, mostEntries: number = callFolderLimits.entries): CallFolder {
  const names = callFilesIn(folder)
  const known = new Map<string, string>()
  const runs = new Map<string, CallFile>()
  const refused: string[] = []
  const settings = new Map<string, CallFile['settings']>()
  let entries = 0
  for (const name of names) {
    const path = join(folder, name)
    try {
      const status = statSync(path)
      // A pipe without a writer, or a device without an end, would be read without end.
      if (!status.isFile()) throw new RankweaveError('ERR_FILE', `${path}: expected a regular file`)
      const { size } = status
      if (size > callFolderLimits.fileBytes)
        throw new RankweaveError(
          'ERR_MEASUREMENT',
          `${path}: expected at most ${callFolderLimits.fileBytes} bytes, got ${size}`,
        )
      const bytes = readFileSync(path)
      const run = readCallFile(path, bytes, true)
      const checksum = bytes.toString('latin1', bytes.length - 16)
      const same = known.get(checksum)
      if (same !== undefined) throw new RankweaveError('ERR_MEASUREMENT', `${path}: the same run as ${same}`)
      known.set(checksum, name)
      const list = JSON.stringify(run.settings)
      entries += run.records.get(0)!.length + run.communicators.length
      if (!settings.has(list)) entries += run.settings.length
      runs.set(name, { ...run, settings: getOrAdd(settings, list, () => run.settings) })
    } catch (error) {
      refused.push(
        printable(error instanceof RankweaveError ? error.message : `${path}: ${reasonText(error)}`),
      )
    }
    if (entries > mostEntries) {
      const expected = `expected at most ${mostEntries} calls, communicators and settings in all runs`
      const message = `${folder}: ${expected}, got more up to ${name}: move the oldest away`
      throw new RankweaveError('ERR_MEASUREMENT', message)
    }
  }
  requireOneSource(folder, runs)
  return { runs, refused }
}

function callFilesIn(folder: string): string[] {
  let names: string[]
  try {
    names = readdirSync(folder)
      .filter((name) => name.endsWith(callFileEnding))
      .sort()
  } catch (cause) {
    throw fileError('read', folder, cause)
  }
  if (names.length > callFolderLimits.files) {
    const expected = `expected at most ${callFolderLimits.files} files of calls, got ${names.length}`
    throw fileError('read', folder, new Error(`${expected}; move the oldest away`))
  }
  return names
}

function requireOneSource(folder: string, runs: ReadonlyMap<string, CallFile>): void {
  let first: { readonly name: string; readonly text: string } | undefined
  for (const [name, { source }] of runs) {
    const text = `${source.kind} '${source.name}' on '${source.machine}'`
    first ??= { name, text }
    if (text === first.text) continue
    const message = `${folder}: expected runs of one machine and fabric, got ${first.name} of ${first.text} and ${name} of ${text}`
    throw new RankweaveError('ERR_MEASUREMENT', message)
  }
}

/**
 * Returns the measurements of several files, joined line by line.
 *
 * @throws ERR_FILE, ERR_MEASUREMENT with the file and the line
 */
export function readMeasurementFiles(files: readonly string[]): Measurement[] {
  return files.flatMap((file) => {
    const source = openInput(file)
    try {
      return readMeasurements(readText(source, file).split('\n'))
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_MEASUREMENT')) throw error
      const { code, message, details } = error
      throw new RankweaveError(code, `${file}: ${message}`, { details: { ...details, file }, cause: error })
    } finally {
      source.close()
    }
  })
}
