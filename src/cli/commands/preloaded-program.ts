import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RankweaveError } from '../../errors.js'
import { compileLibrary } from '../../shim/library.js'
import { compilerOfCommand, withVariables } from '../../shim/mpi-command.js'
import { fileError } from '../../text/whole-file.js'
import type { Reporter } from '../output/reporter.js'
import { WorldFailure } from '../program/world-failure.js'

/** How the library is preloaded into the processes of a program. */
export interface Preloading {
  /** A compiled library; without one it is compiled. */
  readonly library: string | undefined
  /** The compiler; without one that of the launcher. */
  readonly mpicc: string | undefined
  /** A folder for the compiled library. */
  readonly folder: string
  /** The environment of the processes besides. */
  readonly variables: Readonly<Record<string, string>>
  /** Ends the message about a program that fails, asked then: `so nothing is recorded`. */
  ifItFails(): string
}

/**
 * Runs an MPI program with the library preloaded to its end.
 *
 * @throws ERR_SHIM, as a `WorldFailure`, where the program fails
 */
export async function runWithLibrary(
  report: Reporter,
  command: readonly string[],
  { library, mpicc, folder, variables, ifItFails }: Preloading,
): Promise<void> {
  const words = withVariables(command, {
    LD_PRELOAD: preloaded(library === undefined ? join(folder, 'librankweave_shim.so') : resolve(library)),
    ...variables,
  })
  if (library === undefined) {
    const compiler = mpicc ?? compilerOfCommand(command)
    report.step(`compiling with ${compiler}`)
    compileLibrary(folder, compiler)
  }
  await runToEnd(words, report.json, ifItFails)
}

/** In a folder that the processes can write as well. A comma ends a setting of the library. */
export function temporaryRecordFolder(folder: string): string {
  if (folder.includes(',')) {
    const message = `expected an output in a folder without commas in its path, got ${folder}`
    throw new RankweaveError('ERR_SHIM', message)
  }
  try {
    return mkdtempSync(join(folder, '.rankweave-record-'))
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot write to ${folder}: ${(cause as Error).message}`, { cause })
  }
}

/** The loader would only warn, and the program would run to its end without the library. */
export function requireReadable(library: string): void {
  try {
    accessSync(library, constants.R_OK)
  } catch (cause) {
    throw fileError('read', library, cause)
  }
}

/** What the environment preloads already stays. */
function preloaded(library: string): string {
  if (/[\s:]/.test(library))
    throw new RankweaveError(
      'ERR_SHIM',
      `expected a library without spaces and colons in its path, at which LD_PRELOAD is divided, got ${library}; ` +
        'it is compiled next to the output unless --library names one',
    )
  const others = process.env['LD_PRELOAD'] ?? ''
  return others === '' ? library : `${library}:${others}`
}

/** The exit code with which the library ends a process of another MPI (`own-mpi.c`). */
const anotherMpi = 78

const forwarded = ['SIGTERM', 'SIGHUP'] as const

const leaveToLauncher = () => {}

/**
 * A signal to end is the launcher's, which ends the processes. Ctrl-C reaches the launcher from the terminal;
 * forwarded besides it would be its second, upon which launchers leave processes behind.
 */
async function runToEnd(
  [launcher, ...words]: readonly string[],
  isJson: boolean,
  ifItFails: () => string,
): Promise<void> {
  let child: ChildProcess | undefined
  // Signals are heard before there is a launcher, and handled after.
  const forward = (signal: NodeJS.Signals) => child?.kill(signal)
  process.on('SIGINT', leaveToLauncher)
  for (const signal of forwarded) process.on(signal, forward)
  try {
    const started = spawn(launcher, words, { stdio: ['inherit', isJson ? 2 : 'inherit', 'inherit'] })
    child = started
    const [code, signal] = await new Promise<readonly [number | null, NodeJS.Signals | null]>(
      (done, failed) => {
        started.on('error', failed)
        started.on('close', (...ended) => done(ended))
      },
    )
    if (code === 0) return
    const how = code === null ? `signal ${signal}` : `exit code ${code}`
    const advice = code === anotherMpi ? '; start the program with the launcher of the MPI that it uses' : ''
    const cause = new RankweaveError('ERR_SHIM', `${launcher} ended with ${how}, ${ifItFails()}${advice}`)
    throw new WorldFailure(cause.message, { cause })
  } finally {
    process.off('SIGINT', leaveToLauncher)
    for (const signal of forwarded) process.off(signal, forward)
  }
}
