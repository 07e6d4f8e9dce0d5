import { RankweaveError } from '../../errors.js'
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
  return fileSource('standard input', () => standardInput)
}
