import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { expect, it } from 'vitest'
import { endableCalls, loadKoffi } from '../../../../src/fabric/mpi/mpi-library.js'

/** Whether this process has a handler for a signal, as Linux reports it. */
function isCaught(name: NodeJS.Signals): boolean {
  const [, mask] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))!
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[name] - 1)) & 1n) === 1n
}

if (process.platform !== 'linux') console.log('skipped: which signals a process handles is read from Linux')

it.skipIf(process.platform !== 'linux').each(['SIGHUP', 'SIGINT', 'SIGTERM'] as const)(
  '%s ends a process that a call of MPI blocks, and is handled again after the call',
  async (name) => {
    const koffi = await loadKoffi()
    const endable = endableCalls(koffi, (view) => Number(koffi.address(view)))
    const handled = once(process, name)
    expect(isCaught(name)).toBe(true)
    expect(endable(() => isCaught(name))).toBe(false)
    expect(() => endable(() => expect.fail('thrown'))).toThrow('thrown')
    process.kill(process.pid, name)
    await handled
  },
)
