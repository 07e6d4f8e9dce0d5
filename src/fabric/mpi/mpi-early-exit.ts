import { writeSync } from 'node:fs'

/** The time for the launcher to forward printed text before a job is aborted; launchers drop the rest. */
const launcherFlushMs = 200

let abortsEarly = false

/**
 * Makes this process abort its job if it exits with a nonzero code before MPI is initialized. Open MPI's launcher does
 * so by itself. Hydra notices the end of a process only if that has initialized MPI, and the others would wait forever.
 * So it gets the abort command of PMI 1.
 */
export function abortJobOnEarlyExit(): void {
  if (abortsEarly) return
  abortsEarly = true
  process.on('exit', onExit)
}

/** Keeps the job when this process exits, because MPI is initialized or about to be. */
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
    // The connection is closed, as by npx, so the launcher cannot be reached.
  }
}
