import { createReadStream, fstatSync } from 'node:fs'
import { Socket, type SocketConstructorOpts } from 'node:net'
import type { Readable } from 'node:stream'
import { isatty, ReadStream } from 'node:tty'

const descriptor = 0

/**
 * Gives this worker thread the standard input of the whole program as `process.stdin`; Node gives workers an empty one.
 * It is opened when it is first used: to open a pipe makes it non-blocking for all who read the descriptor.
 */
export function adoptStdin(): void {
  let stdin: Readable | undefined
  Object.defineProperty(process, 'stdin', {
    configurable: true,
    enumerable: true,
    get: () => {
      stdin ??= openStdin()
      return stdin
    },
  })
}

/** Opens it as Node does in the main thread. It does not keep the thread alive unless it is read. */
function openStdin(): Readable {
  if (isatty(descriptor)) return new ReadStream(descriptor)
  const file = fstatSync(descriptor)
  if (!file.isFIFO() && !file.isSocket()) return createReadStream('', { fd: descriptor, autoClose: false })
  // With `manualStart`, which the types lack, nothing is read before the stream is used.
  const options: SocketConstructorOpts & { readonly manualStart: boolean } = {
    fd: descriptor,
    readable: true,
    writable: false,
    manualStart: true,
  }
  return new Socket(options)
}
