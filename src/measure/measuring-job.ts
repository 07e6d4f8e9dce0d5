import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { RankweaveError } from '../errors.js'
import { ownFile } from '../package-paths.js'
import { runCompiler } from '../shim/library.js'

const sources = ['measure.c', 'calls.c', 'variables.c', 'measure.h'] as const

/**
 * Compiles the program that measures an MPI library, in a folder that all its processes can read.
 *
 * @returns path of the program
 * @throws ERR_SHIM where a C source of the package is missing, the folder cannot be written, or the compiler is
 *   missing or fails; its own message is in the error's
 */
export function compileMeasuring(folder: string, mpicc: string, extra: readonly string[] = []): string {
  for (const name of sources) {
    try {
      writeFileSync(join(folder, name), readFileSync(ownFile(`measure/c/${name}`)))
    } catch (cause) {
      const message = `cannot copy ${name} to ${folder}: ${(cause as Error).message}`
      throw new RankweaveError('ERR_SHIM', message, { cause })
    }
  }
  const program = join(folder, 'measure')
  const units = sources.filter((name) => name.endsWith('.c')).map((name) => join(folder, name))
  runCompiler(mpicc, ['-std=c99', '-O2', '-D_GNU_SOURCE', ...extra, '-o', program, ...units])
  return program
}

/** A job of that program, which carries out orders. */
export interface MeasuringJob {
  /** First line of MPI_Get_library_version. */
  readonly library: string
  /** Of every process a number for its node. */
  readonly nodes: readonly number[]
  /** Sends an order, and returns the line that answers it. @throws ERR_MEASUREMENT when the job fails */
  ask(order: string): Promise<string>
  /** Ends the job after its present order; resolves when it has ended. */
  end(): Promise<void>
  /** Why it has failed; undefined as long as it has not. */
  failure(): RankweaveError | undefined
}

/**
 * Starts a job. What its launcher prints before is ignored.
 *
 * @param launch the words that start `program` on processes of MPI: `mpirun -n 4`
 * @param signal ends the job at once
 * @throws ERR_MEASUREMENT where the launcher does not start, or the job ends before it has introduced itself
 */
export async function startMeasuring(
  launch: readonly string[],
  program: string,
  signal?: AbortSignal,
): Promise<MeasuringJob> {
  const [launcher, ...words] = launch
  // Ctrl-C of a terminal reaches the launcher as well, which ends the processes.
  const child = spawn(launcher, [...words, program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(signal === undefined ? {} : { signal }),
  })
  const lines = answersOf(child, launcher)
  let library = await lines.next()
  while (!library.startsWith('library ')) library = await lines.next()
  const nodes = await lines.next()
  return {
    library: library.slice('library '.length),
    nodes: nodes.split(' ').slice(1).map(Number),
    ask: (order) => {
      child.stdin!.write(`${order}\n`)
      return lines.next()
    },
    end: async () => {
      child.stdin!.end('end\n')
      await lines.ended
    },
    failure: lines.failure,
  }
}

interface Answers {
  next(): Promise<string>
  readonly ended: Promise<void>
  failure(): RankweaveError | undefined
}

/** The lines that a job prints, one for each that is waited for. */
function answersOf(child: ChildProcess, launcher: string): Answers {
  const arrived: string[] = []
  const waiting: { done(line: string): void; failed(error: Error): void }[] = []
  let end: RankweaveError | undefined
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
      // A signal is an error, too, after which the launcher ends its processes.
      if (child.pid !== undefined) return
      const message = `expected a command that starts processes of MPI, but ${launcher} does not start`
      finish(`${message}: ${cause.message}`, cause)
      resolve()
    })
    child.on('close', (code, signal) => {
      finish(`${launcher} ended with ${code === null ? `signal ${signal}` : `exit code ${code}`}`)
      resolve()
    })
  })
  return {
    ended,
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
