/** Where a command writes. Tests pass their own. */
export interface Streams {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
}

/** Standard output and error of this process. */
export interface ProcessStreams extends Streams {
  /** Resolves when all is written: to null, or to the error for which some of it is lost. */
  readonly flushed: () => Promise<Error | null>
}

/**
 * Standard output and error of this process. A reader that goes away (`| head`) is no failure of ours.
 *
 * @param ownStdout nothing but the command's own answer may go to standard output: what else in this process writes
 *   there, such as a user's program from its first import to its exit handlers, goes to standard error
 */
export function processStreams({ ownStdout }: { readonly ownStdout: boolean }): ProcessStreams {
  const { stdout, stderr } = process
  let lost: Error | null = null
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') lost ??= error
    })
  }
  const write = stdout.write.bind(stdout)
  if (ownStdout) stdout.write = stderr.write.bind(stderr)
  return {
    stdout: (text) => void write(text),
    stderr: (text) => void stderr.write(text),
    flushed: async () => {
      await Promise.all([flushed(stdout, write), flushed(stderr, stderr.write.bind(stderr))])
      // A stream tells of its errors one turn later.
      await new Promise((resolve) => setImmediate(resolve))
      return lost
    },
  }
}

function flushed(stream: NodeJS.WriteStream, write: NodeJS.WriteStream['write']): Promise<void> {
  if (stream.destroyed || stream.writableLength === 0) return Promise.resolve()
  return new Promise((resolve) => {
    write('', () => resolve())
    stream.once('close', resolve)
  })
}
