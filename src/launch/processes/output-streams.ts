import type { Readable } from 'node:stream'

/** The output of a worker or another process, which this thread reads. */
export interface OutputStreams {
  readonly stdout: Readable
  readonly stderr: Readable
}

/** The standard output and error of the workers and processes of running worlds. */
const sources = new Set<Readable>()

/**
 * Reads and drops output that cannot be passed on. Node passes what workers write on to this process's standard output
 * and error. When one of those fails, Node stops reading, and a worker would wait forever for its output to be written.
 *
 * @returns to be called when the workers have ended
 */
export function dropOutputOfBrokenStreams(workers: readonly OutputStreams[]): () => void {
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

/** Passes on what another process writes, as Node does with what a worker writes. */
export function passOnOutput({ stdout, stderr }: OutputStreams): void {
  withoutWarning(process.stdout, () => stdout.pipe(process.stdout, { end: false }))
  withoutWarning(process.stderr, () => stderr.pipe(process.stderr, { end: false }))
}

function listen(stream: NodeJS.WriteStream): void {
  withoutWarning(stream, () => stream.on('unpipe', drop))
}

/** Adds a listener without Node's warning: the output of every worker has separate listeners there. */
function withoutWarning(stream: NodeJS.WriteStream, addListener: () => void): void {
  const most = stream.getMaxListeners()
  stream.setMaxListeners(0)
  addListener()
  stream.setMaxListeners(most)
}

function drop(source: Readable): void {
  if (sources.has(source)) source.resume()
}
