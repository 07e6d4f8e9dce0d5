import { constants } from 'node:os'
import type { Koffi } from '../koffi.js'
import { type AddressOf, MpiMemory } from './mpi-memory.js'

/** Runs a call of MPI that may wait for other processes without end, during which signals still end this process. */
export type Endable = <T>(call: () => T) => T

/** The signals for which Node may have handlers, which run when the event loop turns. */
const signals = [constants.signals.SIGHUP, constants.signals.SIGINT, constants.signals.SIGTERM]

/** The bytes that hold a `struct sigaction` of any platform; it begins with the handler. */
const actionBytes = 256
const [defaultAction, ignored] = [0, 1]

/**
 * @internal Gives signals the platform's default effect while a call of MPI blocks this thread, as in a C program;
 *   those that are ignored stay ignored. No handler of Node runs during such a call, so a process that waits in
 *   `MPI_Init` for a lost one could only be killed.
 */
export function endableCalls(koffi: Koffi, addressOf: AddressOf): Endable {
  const types = ['int', 'int64_t', 'int64_t']
  const sigaction = koffi.load(null).func('sigaction', 'int', types) as (...args: number[]) => number
  return (call) => {
    const plain = new MpiMemory(actionBytes, addressOf)
    const restored = signals.flatMap((signal) => {
      const before = new MpiMemory(actionBytes, addressOf)
      sigaction(signal, 0, before.address)
      const handler = before.number(0, 8)
      if (handler === defaultAction || handler === ignored) return []
      sigaction(signal, plain.address, 0)
      return [() => sigaction(signal, before.address, 0)]
    })
    try {
      return call()
    } finally {
      for (const restore of restored) restore()
    }
  }
}
