import { RankweaveError } from '../../errors.js'
import type { FabricFactory, FabricKind } from '../../fabric/fabric.js'
import { fileSource, type OpenSource, openSourceFile } from '../../text/source-file.js'

const standardInput = 0
let isTaken = false

/**
 * Opens a file that the user named; `-` is standard input, which can be read once.
 *
 * @throws ERR_FILE, ERR_USAGE for a second `-`
 */
export const openInput: OpenSource = (path) => {
  if (path !== '-') return openSourceFile(path)
  if (isTaken) throw new RankweaveError('ERR_USAGE', 'expected one input from standard input, got two')
  isTaken = true
  // Standard input is never closed: the next file or socket would get the number 0, and Node ends a process in which
  // libuv closes that.
  return { ...fileSource('standard input', () => standardInput), close: () => {} }
}

/** Works as {@link openInput} does, on a fabric. @throws ERR_USAGE for `-` if every process of a job reads the file */
export function openInputOn({ kind, isJob = false }: Pick<FabricFactory, 'kind' | 'isJob'>): OpenSource {
  return (path) => {
    if (!isJob || path !== '-') return openInput(path)
    throw notFromStandardInput(kind)
  }
}

/** Returns the error of an input that every process of a job reads, which only one of them can. */
export function notFromStandardInput(kind: FabricKind): RankweaveError {
  return new RankweaveError('ERR_USAGE', `--fabric ${kind}: expected files, which every process reads, got -`)
}
