import type { Readable } from 'node:stream'
import type { Worker } from 'node:worker_threads'

/** Standard output and error of the workers of running worlds. */
const sources = new Set<Readable>()

/**
 * Node passes what workers write on to this process's standard output and error. When one of those fails, Node stops
 * reading, and a worker would wait forever for its output to be written: from then on it is read and dropped.
 *
 * @returns to be called when the workers have ended
 */
export function dropOutputOfBrokenStreams(workers: readonly Worker[]): () => void {
  const own = workers.flatMap(({ stdout, stderr }) => [stdout, stderr])
  if (sources.size === 0) {
    listen(process.stdout)
    listen(process.stderr)
  }
  for (const source of own) sources.add(source)
  return () => {
    for (const source of own) sources.delete(source)
    if (sources.size > 0) return
    process.stdout.off('unpipe', drop)
    process.stderr.off('unpipe', drop)
  }
}

/** Without a warning: every worker's output has a listener of its own there. */
function listen(stream: NodeJS.WriteStream): void {
  const most = stream.getMaxListeners()
  stream.setMaxListeners(0)
  stream.on('unpipe', drop)
  stream.setMaxListeners(most)
}

function drop(source: Readable): void {
  if (sources.has(source)) source.resume()
}
