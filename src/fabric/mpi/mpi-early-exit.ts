import { writeSync } from 'node:fs'

/** Time for the launcher to forward what was printed, before a job is aborted: launchers drop the rest. */
const launcherFlushMs = 200

let abortsEarly = false

/**
 * From now on until MPI is initialized, this process aborts its job if it exits with a nonzero code. Open
 * MPI's launcher does so by itself. Hydra notices the end of a process only when that has initialized MPI,
 * and the others would wait for it forever; so it is asked to, by the command that PMI 1 has for it.
 */
export function abortJobOnEarlyExit(): void {
  if (abortsEarly) return
  abortsEarly = true
  process.on('exit', onExit)
}

/** MPI is initialized, or about to be. */
export function keepJobOnExit(): void {
  process.off('exit', onExit)
}

/** Blocks until the launcher has had time to forward what was printed. */
export function letLauncherForward(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, launcherFlushMs)
}

function onExit(exitCode: number): void {
  const { HYDI_CONTROL_FD: hydra, PMI_FD: connection } = process.env
  if (exitCode === 0 || hydra === undefined || connection === undefined) return
  letLauncherForward()
  try {
    writeSync(Number(connection), `cmd=abort exitcode=${exitCode}\n`)
  } catch {
    // The connection is closed, as by npx: the launcher cannot be reached.
  }
}
