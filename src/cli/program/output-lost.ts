/**
 * What a program or command wrote to standard output or error is lost: the reader has left, or the disk is
 * full.
 */
export class OutputLost extends Error {
  override readonly name = 'OutputLost'
  /** The reader has left, as `head` does. */
  readonly closed: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause })
    this.closed = cause.code === 'EPIPE'
  }
}

/**
 * Calls `end` with an {@link OutputLost} when standard output or error fails.
 *
 * @returns stops watching
 */
export function watchOutput(end: (error: OutputLost) => void): () => void {
  const streams = [process.stdout, process.stderr]
  const onError = (error: Error) => end(new OutputLost(error))
  for (const stream of streams) stream.on('error', onError)
  return () => {
    for (const stream of streams) stream.off('error', onError)
  }
}
