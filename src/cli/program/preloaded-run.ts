import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { laterTurn } from '../../base/turn.js'
import { RankweaveError } from '../../errors.js'
import { withVariables } from '../../shim/mpi-command.js'
import { fileError } from '../../text/whole-file.js'
import { Interrupted, Overdue, WorldFailure } from '../output/exit-codes.js'

/** The libraries that are preloaded into the processes of a program, and the conditions of its run. */
interface Preloading {
  /** The paths of the libraries, in the order of LD_PRELOAD. */
  readonly libraries: readonly string[]
  /** Further variables of the processes' environment. */
  readonly variables: Readonly<Record<string, string>>
  /** An open file that is the program's standard input; default: that of this process. */
  readonly input?: number
  /** Makes the libraries. A signal that arrives meanwhile ends the command before the program starts. */
  prepare?(): void
  /** The target of the program's standard output: that of this process, its standard error, nothing, or a file. */
  readonly output: 'inherit' | 'stderr' | 'ignore' | number
  /** Milliseconds from the start of the launcher after which the processes are ended. Default: there is no limit. */
  readonly limitMs?: number
  /** Returns the end of the message about a program that fails: `so nothing is recorded`. */
  ifItFails(): string
}

/**
 * Runs an MPI program with libraries preloaded to its end. A signal to end this process goes to the launcher, which
 * ends the processes.
 *
 * @throws ERR_SHIM, as a `WorldFailure`, if the program fails, and as an `Overdue` after the limit; ERR_ABORTED, as an
 *   `Interrupted`, after a signal
 */
export async function runPreloaded(
  command: readonly string[],
  { libraries, variables, input, prepare, output, limitMs, ifItFails }: Preloading,
): Promise<void> {
  const words = withVariables(command, { LD_PRELOAD: preloadList(libraries), ...variables })
  let launcher: ChildProcess | undefined
  const work = async (heard: readonly NodeJS.Signals[]) => {
    if (prepare !== undefined) {
      prepare()
      await signalsOfCompiler()
    }
    if (heard.length > 0) return
    const stdio: StdioOptions = [input ?? 'inherit', output === 'stderr' ? 2 : output, 'pipe']
    launcher = spawn(words[0], words.slice(1), { stdio, detached: true })
    const ended = hasEnded(launcher, words[0], ifItFails)
    await (limitMs === undefined ? ended : withinLimit(launcher, words[0], ended, limitMs))
  }
  await untilSignal(command[0], ifItFails, work, (signal) => signalGroup(launcher, signal))
}

/**
 * Does work during which a signal to end this process only ends the work.
 *
 * @param name the program of which the work is part
 * @param work gets the signals that have arrived
 * @throws ERR_ABORTED, as an `Interrupted`, after a signal, whether the work has succeeded or failed
 */
export async function untilSignal(
  name: string,
  ifItFails: () => string,
  work: (heard: readonly NodeJS.Signals[]) => Promise<void>,
  onSignal: (signal: NodeJS.Signals) => void = () => {},
): Promise<void> {
  const heard: NodeJS.Signals[] = []
  const hear = (signal: NodeJS.Signals) => {
    heard.push(signal)
    onSignal(signal)
  }
  for (const signal of endings) process.on(signal, hear)
  try {
    await work(heard)
    await signalsOfCompiler()
    // MPICH's launcher may end with exit code 0 after a signal.
    if (heard.length === 0) return
  } catch (error) {
    await signalsOfCompiler()
    if (heard.length === 0) throw error
  } finally {
    for (const signal of endings) process.off(signal, hear)
  }
  const [signal] = heard
  const message = `${name} was interrupted by ${signal}, ${ifItFails()}`
  throw new Interrupted(signal, new RankweaveError('ERR_ABORTED', message))
}

/**
 * Makes a folder to which the processes can also write, and removes those there whose processes were killed before they
 * could. A comma would end a setting of the library.
 */
export function temporaryRecordFolder(folder: string): string {
  if (folder.includes(',')) {
    const message = `expected an output in a folder without commas in its path, got ${folder}`
    throw new RankweaveError('ERR_SHIM', message)
  }
  try {
    removeLeftFolders(folder)
    const made = mkdtempSync(join(folder, folderPrefix))
    const mark = markOf(process.pid)
    if (mark !== null) writeFileSync(join(made, ownerFile), mark)
    return made
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot write to ${folder}: ${(cause as Error).message}`, { cause })
  }
}

const folderPrefix = '.rankweave-record-'
/** The file of a folder that names the process that made it. */
const ownerFile = 'owner'

/** Removes folders of this user whose process has ended on this machine; others may belong to another machine. */
function removeLeftFolders(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(folderPrefix))) {
    const left = join(folder, name)
    try {
      const mark = readFileSync(join(left, ownerFile), 'utf8')
      const [pid] = mark.split(' ')
      const isOurs = lstatSync(left).uid === process.getuid?.() && sharesProcesses(mark)
      if (isOurs && markOf(Number(pid)) !== mark) rmSync(left, { recursive: true, force: true })
    } catch {
      // A folder without a mark, or one that its own process has just removed.
    }
  }
}

/**
 * Returns a text that no other process has: its number, the kernel and the namespace that count it, and its start time.
 * Null where the system does not show them, or the process has ended.
 */
function markOf(pid: number): string | null {
  const [boot, namespace] = namespaceOf()
  try {
    const start = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]
    return [pid, boot, namespace, start].join(' ')
  } catch {
    return null
  }
}

/** Returns whether the process of a mark is counted like this one, so that its end can be seen here. */
function sharesProcesses(mark: string): boolean {
  const [boot, namespace] = namespaceOf()
  return boot !== '' && mark.split(' ').slice(1, 3).join(' ') === `${boot} ${namespace}`
}

function namespaceOf(): readonly [boot: string, namespace: string] {
  try {
    return [readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), readlinkSync('/proc/self/ns/pid')]
  } catch {
    return ['', '']
  }
}

/** Requires a readable library. The loader would only warn, and the program would run without it. */
export function requireReadable(library: string): void {
  try {
    accessSync(library, constants.R_OK)
  } catch (cause) {
    throw fileError('read', library, cause)
  }
}

/** Returns the value of LD_PRELOAD, which keeps the libraries that the environment preloads already. */
function preloadList(libraries: readonly string[]): string {
  const divided = libraries.find((library) => /[\s:]/.test(library))
  if (divided !== undefined)
    throw new RankweaveError(
      'ERR_SHIM',
      `expected a library without spaces and colons in its path, at which LD_PRELOAD is divided, got ${divided}; ` +
        'it is compiled next to the output unless --library names one',
    )
  const others = process.env['LD_PRELOAD'] ?? ''
  return [...libraries, ...(others === '' ? [] : [others])].join(':')
}

/** The exit code with which the library ends a process of another MPI (`own-mpi.c`). */
const anotherMpi = 78

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Waits for signals that came while the compiler ran; they arrive in a later turn of the event loop. */
async function signalsOfCompiler(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await laterTurn()
}

/**
 * Sends a signal to the launcher and to the processes that it has started in its group. Ctrl-C of a terminal does not
 * reach that group as well: after a second signal launchers leave processes behind.
 */
function signalGroup(launcher: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (launcher?.pid === undefined) return
  try {
    process.kill(-launcher.pid, signal)
  } catch {
    // The processes have just ended.
  }
}

/** The time in which a launcher that was asked to end may end its processes. */
const endingMs = 10_000

/** Ends the processes after a limit. @throws ERR_SHIM, as an `Overdue`, if it has passed */
async function withinLimit(
  launcher: ChildProcess,
  name: string,
  ended: Promise<void>,
  limitMs: number,
): Promise<void> {
  let isOverdue = false
  let timer = setTimeout(() => {
    isOverdue = true
    signalGroup(launcher, 'SIGTERM')
    timer = setTimeout(() => signalGroup(launcher, 'SIGKILL'), endingMs)
  }, limitMs)
  try {
    await ended
  } catch (error) {
    if (!isOverdue) throw error
  } finally {
    clearTimeout(timer)
  }
  if (!isOverdue) return
  const message = `${name} was ended because it had not ended after ${Math.round(limitMs / 1000)} s`
  throw new Overdue(message, { cause: new RankweaveError('ERR_SHIM', message) })
}

/**
 * Passes the standard error of the launcher on.
 *
 * @throws ERR_SHIM, as a `WorldFailure`, unless the launcher ends with exit code 0
 */
async function hasEnded(launcher: ChildProcess, name: string, ifItFails: () => string): Promise<void> {
  const errors = launcher.stderr!
  errors.pipe(process.stderr, { end: false })
  let said = ''
  errors.on('data', (piece: Buffer) => {
    said = (said + piece).slice(-mostSaid)
  })
  const [code, signal] = await new Promise<readonly [number | null, NodeJS.Signals | null]>(
    (done, failed) => {
      launcher.on('error', failed)
      launcher.on('exit', (...ended) => done(ended))
    },
  )
  await restOf(errors)
  if (code === 0) return
  const how = code === null ? `signal ${signal}` : `exit code ${code}`
  const advice = code === anotherMpi ? '; start the program with the launcher of the MPI that it uses' : ''
  const message = `${name} ended with ${how}, ${ifItFails()}${advice}${launchAdvice(said) ?? lastLines(said)}`
  const cause = new RankweaveError('ERR_SHIM', message)
  throw new WorldFailure(cause.message, { cause })
}

/** The characters of a launcher's standard error that are retained. */
const mostSaid = 4096

/** The time for the rest of the standard error: processes that the launcher has left behind may hold it open. */
const restMs = 1000

async function restOf(errors: Readable): Promise<void> {
  if (errors.closed) return
  await new Promise<void>((done) => {
    const timer = setTimeout(done, restMs)
    errors.on('close', () => {
      clearTimeout(timer)
      done()
    })
  })
  errors.destroy()
}

/** Says what a launcher asks for that lacks slots, or that root has started; null unless it has said so. */
function launchAdvice(said: string): string | null {
  if (/allow-run-as-root|ALLOW_RUN_AS_ROOT/.test(said))
    return '; it refuses to start programs as root: add --allow-run-as-root, or use another user'
  if (!/not enough slots|already filled/.test(said)) return null
  return '; to share cores, add --oversubscribe (Open MPI 5: --map-by :OVERSUBSCRIBE), or name more hosts with --host or --hostfile'
}

/** Returns the end of what a launcher said, in one line; empty if it said nothing. */
function lastLines(said: string): string {
  const lines = said.split('\n').map((line) => line.trim())
  const last = lines.filter((line) => /\w/.test(line)).slice(-3)
  return last.length === 0 ? '' : `; its last words: ${last.join(' ')}`
}
