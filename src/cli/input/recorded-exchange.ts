import { statSync } from 'node:fs'
import { type RecordedExchange, recordedExchange } from '../../shim/recorded-graphs.js'
import { withSource } from '../../text/source-file.js'
import { openInput } from './open-input.js'

/** The bytes of a file in which comments at its head are sought. */
const longestHead = 2 ** 16

/**
 * Returns what a program exchanged over a topology that `rankweave record` wrote; null for other topologies. It reads
 * the comments at the head of a file, and nothing of pipes, which can be read only once.
 *
 * @throws ERR_FILE for a file that cannot be read
 */
export function recordedIn(spec: string): RecordedExchange | null {
  const file = /^edges:(.+)$/s.exec(spec)?.[1] ?? '-'
  if (file === '-' || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null
  return withSource(
    file,
    (source) => {
      const head = new Uint8Array(longestHead)
      let length = 0
      for (let count = -1; count !== 0 && length < longestHead; length += count)
        count = source.read(head.subarray(length))
      return recordedExchange(new TextDecoder().decode(head.subarray(0, length)))
    },
    { open: openInput },
  )
}
