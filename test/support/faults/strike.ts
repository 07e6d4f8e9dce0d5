import type { Fault } from './fault-rows.js'

/** What a process does to itself; other faults come from outside. */
export function strikeOf(fault: Fault): (data: Float64Array | undefined) => void {
  switch (fault) {
    case 'worker exits':
      return () => process.exit(5)
    case 'uncaught error':
      return () => void setImmediate(() => raise('nobody catches this'))
    case 'out of memory':
      return exhaustMemory
    case 'error thrown by a rank':
      return () => raise(onPurpose)
    case 'detached array':
      return (data) => void structuredClone(data, { transfer: [data!.buffer as ArrayBuffer] })
    default:
      return () => {}
  }
}

/** The message of the error that a rank throws. */
export const onPurpose = 'on purpose'

function raise(message: string): never {
  throw new Error(message)
}

function exhaustMemory(): never {
  for (const held: unknown[] = []; ; ) held.push(Array.from({ length: 10_000 }, (_, n) => ({ n })))
}
