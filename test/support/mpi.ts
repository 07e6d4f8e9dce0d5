import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, inject } from 'vitest'
import { compiled } from './compiled.js'
import { endWithFile } from './end-with-file.js'
import { launchers } from './find-mpi.js'
import { isSoak, soakSeed, tier } from './soak.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** An MPI that the tests use. */
export interface Mpi {
  readonly name: keyof typeof launchers
  readonly mpirun: string
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Loopback and shared memory only; tests share two cores. */
const mpis: readonly Mpi[] = [
  {
    name: 'Open MPI',
    mpirun: launchers['Open MPI'],
    flags: ['--oversubscribe', '--bind-to', 'none'],
    env: {
      OMPI_ALLOW_RUN_AS_ROOT: '1',
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      OMPI_MCA_pml: 'ob1',
      OMPI_MCA_btl: 'self,vader',
      OMPI_MCA_plm: 'isolated',
    },
  },
  {
    name: 'MPICH',
    mpirun: launchers.MPICH,
    flags: ['-launcher', 'fork'],
    // A job would fail to start while a test of two hosts removes a network device.
    env: { UCX_NET_DEVICES: 'lo' },
  },
]

/** The MPIs that this machine has. */
export const installedMpis: readonly Mpi[] = mpis.filter(({ mpirun }) => inject('mpirun').includes(mpirun))

/** Cases for every MPI; those of an MPI that this machine does not have are skipped (see find-mpi.ts). */
export function describeMpi(title: string, cases: (mpi: Mpi) => void): void {
  for (const mpi of mpis) {
    describe.skipIf(!installedMpis.includes(mpi))(`${title} on ${mpi.name}`, () => cases(mpi))
  }
}

/**
 * Cases for every MPI in `npm run soak`. In `npm test` for one of those that this machine has: titles take
 * them in turn.
 */
export function describeEitherMpi(title: string, cases: (mpi: Mpi) => void): void {
  if (isSoak || installedMpis.length < 2) describeMpi(title, cases)
  else {
    const mpi = installedMpis[title.length % installedMpis.length]
    describe(`${title} on ${mpi.name}`, () => cases(mpi))
  }
}

/**
 * Cases for one of the MPIs that this machine has in `npm run soak`, the other for another commit; for every MPI in
 * `npm run soak:long`.
 */
export function describeMpiInTurn(title: string, cases: (mpi: Mpi) => void): void {
  const turn = installedMpis[(title.length + soakSeed) % installedMpis.length]
  if (tier === 'long' || turn === undefined) describeMpi(title, cases)
  else describe(`${title} on ${turn.name}`, () => cases(turn))
}

export interface Ended {
  /** Of the launcher; null when a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A job that runs. */
export interface Job {
  readonly pid: number
  readonly ended: Promise<Ended>
  /** Resolves with all of stdout so far once it contains `text`; rejects when the job ends before. */
  printed(text: string): Promise<string>
  signal(name: NodeJS.Signals): void
}

/** Starts `node` with the arguments on so many processes. */
export function startJob(
  mpi: Mpi,
  processes: number,
  nodeArgs: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Job {
  return startCommand(mpi, processes, [process.execPath, ...nodeArgs], env)
}

/** Starts a command with its arguments on so many processes, which end with the test file at the latest. */
export function startCommand(
  mpi: Mpi,
  processes: number,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Job {
  const args = [...mpi.flags, '-n', String(processes), ...command]
  const { CI: _, ...own } = process.env
  const child = spawn(mpi.mpirun, args, {
    cwd: root,
    env: { ...own, ...mpi.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  endWithFile(child)
  let [stdout, stderr] = ['', '']
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const listener of listeners) listener()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  return {
    pid: child.pid!,
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!stdout.includes(text)) return
          listeners.delete(look)
          resolve(stdout)
        }
        listeners.add(look)
        look()
        ended.then(() => reject(new Error(`the job ended without '${text}': ${stdout}\n${stderr}`)), reject)
      }),
    signal: (name) => process.kill(child.pid!, name),
  }
}

/** The words that start a program on so many processes, with variables of the environment, in a shell or as a child. */
export function launchWords(
  { env, mpirun, flags }: Mpi,
  processes: number,
  more: Readonly<Record<string, string>> = {},
): string[] {
  const variables = Object.entries({ ...env, ...more }).map(([name, value]) => `${name}=${value}`)
  return ['env', ...variables, mpirun, ...flags, '-n', String(processes)]
}

/**
 * Runs a C program that prints its result last to its end; once more if Open MPI called code that it had unloaded, and then
 * prints what the first job said.
 */
export async function runProgram(...job: Parameters<typeof startCommand>): Promise<Ended> {
  const ended = await startCommand(...job).ended
  const [mpi, , command] = job
  if (mpi.name !== 'Open MPI' || !isUnloadedCode(ended)) return ended
  console.warn(
    `MPI_Finalize called code that Open MPI had unloaded; ${command.at(-1)} runs again:\n${ended.stderr}`,
  )
  return startCommand(...job).ended
}

/**
 * Whether Open MPI 4.1 called code that it had unloaded: the address of the code is not mapped, so there is
 * no backtrace (https://github.com/open-mpi/ompi/issues/10117 has other cases of a late event). Such a
 * program prints its result last, so MPI_Finalize had begun.
 */
function isUnloadedCode({ stdout, stderr }: Ended): boolean {
  const isUnmapped = /Segmentation fault \(11\)\n.*Address not mapped.*\n.*Failing at address/.test(stderr)
  return isUnmapped && !/\] \[ ?\d+\] /.test(stderr) && stdout.endsWith('\n')
}

/** Runs a job to its end. */
export function runJob(...job: Parameters<typeof startJob>): Promise<Ended> {
  return startJob(...job).ended
}

/** Arguments of `node` for a TypeScript program of `test/support`, compiled. */
export function program(name: string, ...args: readonly string[]): readonly string[] {
  return [compiled(name), ...args]
}

/** Arguments of `node` for the command, as it was built. */
export function rankweave(...args: readonly string[]): readonly string[] {
  return [`${root}dist/cli/main.js`, ...args]
}

/** Running processes of a job, identified by a word among their arguments. */
export function processesOf(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
        return line[0] === process.execPath && line.includes(marker)
      } catch {
        return false
      }
    })
    .map(Number)
}

/**
 * Resolves when no process has `marker` among its arguments. A launcher may end before those it has killed
 * are gone; if they stay, this waits until the test's own limit.
 */
export async function gone(marker: string): Promise<void> {
  while (processesOf(marker).length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
}
