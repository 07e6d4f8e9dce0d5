import { readFileSync } from 'node:fs'
import { RankweaveError } from '../errors.js'
import { ownFile } from '../package-paths.js'

/** The files of the C runtime, headers first, in an order in which they compile as one. */
export const runtimeFiles = [
  'rankweave_program.h',
  'rankweave_request.h',
  'rankweave_program.c',
  'rankweave_prepare.c',
  'rankweave_run.c',
] as const

/**
 * The text of a C file of the package.
 *
 * @throws ERR_EXPORT where an application bundles this code without the package's files
 */
export function cSource(name: string): string {
  try {
    return readFileSync(ownFile(`export/c/${name}`), 'utf8')
  } catch (cause) {
    throw new RankweaveError('ERR_EXPORT', `the C source ${name} is not where the package has it`, { cause })
  }
}

/** C files as one, without the includes of each other. @throws ERR_EXPORT */
export function inOneFile(names: readonly string[]): string {
  return names.map((name) => cSource(name).replace(/^#include "\w+\.h"\n/gm, '')).join('\n')
}
