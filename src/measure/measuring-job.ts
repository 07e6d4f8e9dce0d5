import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { RankweaveError } from '../errors.js'
import { ownFile } from '../package-paths.js'
import { runCompiler } from '../shim/library.js'

/** The C sources of the program, below `src`; those of control variables are the preloaded library's, too. */
const sources = [
  'measure/c/measure.c',
  'measure/c/measured-calls.c',
  'measure/c/messages.c',
  'measure/c/measure.h',
  'shim/c/variables.c',
  'shim/c/variables.h',
] as const

/**
 * Compiles the program that measures an MPI library, in a folder that all its processes can read.
 *
 * @returns path of the program
 * @throws ERR_SHIM if a C source of the package is missing, the folder cannot be written, or the compiler is missing or
 *   fails; its own message is in the error's
 */
export function compileMeasuring(folder: string, mpicc: string, extra: readonly string[] = []): string {
  for (const source of sources) {
    try {
      writeFileSync(join(folder, basename(source)), readFileSync(ownFile(source)))
    } catch (cause) {
      const message = `cannot copy ${basename(source)} to ${folder}: ${(cause as Error).message}`
      throw new RankweaveError('ERR_SHIM', message, { cause })
    }
  }
  const program = join(folder, 'measure')
  const units = sources
    .filter((source) => source.endsWith('.c'))
    .map((source) => join(folder, basename(source)))
  runCompiler(mpicc, ['-std=c99', '-O2', '-D_GNU_SOURCE', ...extra, '-o', program, ...units])
  return program
}

/** A job of that program, which carries out orders. */
export interface MeasuringJob {
  /** The first line of MPI_Get_library_version. */
  readonly library: string
  /** The node of every process, as a number. */
  readonly nodes: readonly number[]
  /** Sends an order, and returns the line that answers it. @throws ERR_MEASUREMENT when the job fails */
  ask(order: string): Promise<string>
  /** Ends the job after its present order; resolves when it has ended. */
  end(): Promise<void>
  /** Ends the job at once; resolves when it has ended. */
  stop(): Promise<void>
  /** Returns why the job has failed, or undefined. */
  failure(): RankweaveError | undefined
}

/**
 * Starts a job. Up to {@link mostBannerLines} lines that its launcher prints first are ignored.
 *
 * @param launch the words that start `program` on processes of MPI: `mpirun -n 4`
 * @param signal ends the job at once
 * @throws ERR_MEASUREMENT if the launcher does not start, the job ends before it has introduced itself, its lines do
 *   not arrive as it prints them, or its processes are not in one world; no process is left
 */
export async function startMeasuring(
  launch: readonly string[],
  program: string,
  signal?: AbortSignal,
): Promise<MeasuringJob> {
  const [launcher, ...words] = launch
  // The launcher gets a group of processes, so that a signal of this process also reaches its wrappers. Ctrl-C of a
  // terminal does not reach the launcher itself: after a second signal launchers leave processes behind.
  const child = spawn(launcher, [...words, program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const lines = answersOf(child, launcher)
  let lastResort: NodeJS.Timeout | undefined
  const kill = () => {
    if (lines.hasEnded()) return
    killGroup(child, 'SIGTERM')
    // Processes that the launcher has started outside of its group may still have its output open.
    lastResort ??= setTimeout(() => {
      killGroup(child, 'SIGKILL')
      child.stdout!.destroy()
    }, endingMs)
  }
  lines.ended.then(() => clearTimeout(lastResort))
  const stop = async () => {
    child.stdin!.end()
    kill()
    await lines.ended
    signal?.removeEventListener('abort', kill)
  }
  signal?.addEventListener('abort', kill)
  if (signal?.aborted === true) kill()
  try {
    return {
      ...(await introductionOf(lines)),
      ask: (order) => {
        child.stdin!.write(`${order}\n`)
        return lines.next()
      },
      end: async () => {
        child.stdin!.end('end\n')
        await lines.ended
        signal?.removeEventListener('abort', kill)
      },
      stop,
      failure: lines.failure,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The time in which a launcher that was asked to end may end its processes. */
const endingMs = 10_000

/** Sends a signal to the launcher, and to the processes that it has started in its group. */
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The processes have just ended.
  }
}

const greeting = 'rankweave-measure '

/** The most lines of a launcher before the job introduces itself. */
const mostBannerLines = 1000

async function introductionOf(lines: Answers): Promise<Pick<MeasuringJob, 'library' | 'nodes'>> {
  let first: string | undefined
  for (let count = 0; count < mostBannerLines; count++) {
    const line = await lines.next().catch((error) => {
      throw first === undefined
        ? error
        : failed(`${error.message}; the first line it printed is '${beginOf(first)}'`, error)
    })
    if (line.startsWith(greeting))
      return { library: line.slice(greeting.length), nodes: nodesOf(await lines.next()) }
    if (line.includes(greeting)) {
      const message =
        'expected a launcher that passes on the lines of processes unchanged, without an option as --tag-output'
      throw failed(`${message}; its first line is '${beginOf(line)}'`)
    }
    first ??= line
  }
  throw failed(
    `expected a job that introduces itself, got ${mostBannerLines} other lines, the first '${beginOf(first!)}'`,
  )
}

/** Reads `nodes 0 0 2 2`: for every process the lowest one on its node. */
function nodesOf(line: string): readonly number[] {
  const isRight = /^nodes( \d+)+$/.test(line)
  const nodes = isRight ? line.split(' ').slice(1).map(Number) : []
  if (nodes.length > 1) return nodes
  if (!isRight && !line.startsWith(greeting))
    throw failed(`expected the nodes of processes in the second line of the job, got '${beginOf(line)}'`)
  throw failed(
    'expected several processes in one world of MPI, got a world of one: --launch starts one process, or --mpicc is of ' +
      'another MPI than the launcher',
  )
}

function beginOf(line: string): string {
  return line.length > 200 ? `${line.slice(0, 200)}...` : line
}

interface Answers {
  next(): Promise<string>
  readonly ended: Promise<void>
  hasEnded(): boolean
  failure(): RankweaveError | undefined
}

/** Returns the lines that a job prints, one per call. */
function answersOf(child: ChildProcess, launcher: string): Answers {
  const arrived: string[] = []
  const waiting: { done(line: string): void; failed(error: Error): void }[] = []
  let end: RankweaveError | undefined
  let hasEnded = false
  const finish = (message: string, cause?: unknown) => {
    end ??= failed(message, cause)
    for (const one of waiting.splice(0)) one.failed(end)
  }
  // Writing to a job that has ended fails; its end is reported below.
  child.stdin!.on('error', () => {})
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (line.startsWith('failed ')) finish(`the measured job: ${line.slice('failed '.length)}`)
    else if (waiting.length > 0) waiting.shift()!.done(line)
    else arrived.push(line)
  })
  const ended = new Promise<void>((resolve) => {
    child.on('error', (cause) => {
      if (child.pid !== undefined) return
      const message = `expected a command that starts processes of MPI, but ${launcher} does not start`
      finish(`${message}: ${cause.message}`, cause)
      resolve()
    })
    child.on('close', (code, signal) => {
      finish(`${launcher} ended with ${code === null ? `signal ${signal}` : `exit code ${code}`}`)
      hasEnded = true
      resolve()
    })
  })
  return {
    ended,
    hasEnded: () => hasEnded,
    failure: () => end,
    next: () =>
      new Promise((done, refused) => {
        const line = arrived.shift()
        if (line !== undefined) done(line)
        else if (end !== undefined) refused(end)
        else waiting.push({ done, failed: refused })
      }),
  }
}

function failed(message: string, cause?: unknown): RankweaveError {
  return new RankweaveError('ERR_MEASUREMENT', message, { cause })
}
