import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { MeasureFlags } from './measure-options.js'

/** The least bytes beyond the counts of MPI, which are of type `int`. */
const uncountableBytes = 2 ** 31

/**
 * Checks the options of `measure --source mpi` before anything is compiled.
 *
 * @returns the words of `--launch`, which are divided at spaces: at least one
 * @throws ERR_USAGE without words, or for words with quotes; for an order that MPI does not have, and bytes of a call
 *   that it does not count
 */
export function libraryLaunch({ launch, order, bytes, longest }: MeasureFlags): readonly string[] {
  const words = launchWords(launch)
  if (order?.includes('tree') === true)
    throw new RankweaveError('ERR_USAGE', '--order: expected any for --source mpi, which has no other order')
  const tooMany = bytes.find((length) => length >= uncountableBytes && length <= longest)
  if (tooMany === undefined) return words
  const expected = '--bytes: expected less than 2 GiB for --source mpi, which counts by int'
  throw wrongValue('ERR_USAGE', expected, tooMany)
}

function launchWords(launch = ''): readonly string[] {
  const text = launch.trim()
  if (text === '') throw new RankweaveError('ERR_USAGE', "--source mpi: expected --launch, as 'mpirun -n 4'")
  if (!/['"`]/.test(text)) return text.split(/\s+/)
  const expected =
    '--launch: expected words with spaces between, and a script for a command that needs quotes'
  throw wrongValue('ERR_USAGE', expected, text)
}

/** @throws ERR_USAGE for a command that is not installed: neither a path, nor a name in a folder of PATH */
export function requireInstalled(launcher: string, path = process.env['PATH'] ?? ''): void {
  const files = launcher.includes('/')
    ? [launcher]
    : path.split(delimiter).map((folder) => join(folder, launcher))
  if (files.some(isExecutable)) return
  throw wrongValue(
    'ERR_USAGE',
    '--launch: expected a command that starts processes of MPI and is installed',
    launcher,
  )
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
