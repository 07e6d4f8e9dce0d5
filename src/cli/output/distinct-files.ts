import { fstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RankweaveError } from '../../errors.js'
import { isStandardOutput } from './output-file.js'

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
