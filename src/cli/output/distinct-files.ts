import { fstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RankweaveError } from '../../errors.js'
import { isStandardOutput } from './output-file.js'

/** A file by the option that names it; that of an input may be `-`, standard input. */
export interface NamedFile {
  readonly option: string
  readonly file: string
}

/**
 * Refuses an output that is also an input or another output, by whatever path, symbolic link or hard link. Devices
 * may be several.
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

/** Of a file that exists its number on its device; of one that is to be made its path without links. */
function identitiesOf(file: string, isInput: boolean): readonly string[] {
  try {
    const status = isInput && file === '-' ? fstatSync(0, { bigint: true }) : statSync(file, { bigint: true })
    return status.isFile() ? [`${status.dev} ${status.ino}`] : []
  } catch {
    // What cannot be read is refused where it is read.
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
