import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { RankweaveError, wrongValue } from '../../errors.js'

/**
 * The words of `--launch`, which are divided at spaces.
 *
 * @throws ERR_USAGE where there is none, or one has quotes
 */
export function launchWords(text: string | undefined): readonly string[] {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '')
    throw new RankweaveError('ERR_USAGE', "--source mpi: expected --launch, as 'mpirun -n 4'")
  if (!/['"`]/.test(trimmed)) return trimmed.split(/\s+/)
  const expected =
    '--launch: expected words with spaces between, and a script for a command that needs quotes'
  throw wrongValue('ERR_USAGE', expected, trimmed)
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
