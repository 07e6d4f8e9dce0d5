import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { bundle } from '../scripts/build.mjs'
import type { ProcessTopology } from '../src/topology/process-topology.js'

/** Figures of one run by key. */
export type Figures = Readonly<Record<string, number>>

/** One way to answer: a run of ours or of a peer. */
export interface Contestant {
  readonly name: string
  /** What was run, for the report. */
  readonly how: string
  run(): Promise<Figures>
}

const programSources = fileURLToPath(new URL('programs/', import.meta.url))
const peerSources = fileURLToPath(new URL('peers/', import.meta.url))
const root = fileURLToPath(new URL('../', import.meta.url))

/**
 * What is compiled for one benchmark, gone after it. Ours is compiled as it is published: a loader that compiles on the
 * way would be measured too. Inside node_modules, from where the compiled library finds what it depends on.
 */
export class Workshop {
  #folder = ''
  /** Version of the peer, or why there is none. */
  readonly peer: { readonly version: string } | { readonly missing: string }

  constructor() {
    process.on('exit', this.#close)
    const cache = `${root}node_modules/.cache/`
    mkdirSync(cache, { recursive: true })
    this.#folder = `${mkdtempSync(`${cache}bench-threads-`)}/`
    this.#compileOurs()
    this.peer = this.#compilePeers()
  }

  #compileOurs(): void {
    bundle(`${this.#folder}src`)
    const sources = ['threads-child.ts', ...readdirSync(programSources).map((name) => `programs/${name}`)]
    buildSync({
      entryPoints: sources.map((name) => `${root}bench/${name}`),
      outbase: root,
      outdir: this.#folder,
      format: 'esm',
      target: 'node20',
    })
    // With a name and exports, so that `import 'rankweave'` finds it.
    const manifest = { name: 'rankweave', type: 'module', exports: './src/index.js' }
    writeFileSync(`${this.#folder}package.json`, JSON.stringify(manifest))
  }

  #compilePeers(): Workshop['peer'] {
    let version: string
    try {
      const said = execFileSync(mpirun, ['--version'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      version = /Open(?: MPI|RTE)\)? v?(\S+)/.exec(said)?.[1] ?? ''
      if (version === '') return { missing: `${mpirun} is not Open MPI's: ${said.split('\n')[0]}` }
      cpSync(peerSources, `${this.#folder}peers`, { recursive: true })
      const programs = readdirSync(peerSources).filter((name) => name.endsWith('.c'))
      for (const name of programs) {
        const output = `${this.#folder}peers/${name.slice(0, -2)}`
        execFileSync(mpicc, ['-O3', '-o', output, `${peerSources}${name}`], {
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      }
    } catch (error) {
      const { code, stderr } = error as { code?: string; stderr?: Buffer | string }
      return {
        missing:
          code === 'ENOENT'
            ? 'mpicc or mpirun is missing: apt-get install libopenmpi-dev openmpi-bin'
            : `the peers did not compile: ${String(stderr ?? error).slice(0, 500)}`,
      }
    }
    return { version: `Open MPI ${version}` }
  }

  /** The file of a topology, as peers/graph.h reads it. */
  graphFile(name: string, { ranks, inStart, inRank, outStart, outRank }: ProcessTopology): string {
    const lines = [String(ranks)]
    for (let rank = 0; rank < ranks; rank++) {
      const sources = inRank.slice(inStart[rank], inStart[rank + 1])
      const destinations = outRank.slice(outStart[rank], outStart[rank + 1])
      lines.push(`${sources.length} ${destinations.length}`, sources.join(' '), destinations.join(' '))
    }
    const file = `${this.#folder}${name}.graph`
    writeFileSync(file, `${lines.join('\n')}\n`)
    return file
  }

  /** A world on `threads`, in a process of its own. `wallMs` is that process's whole life. */
  ours(
    name: string,
    world: {
      readonly program: string
      readonly ranks: number
      readonly processes?: number
      readonly args?: unknown
    },
    limitSeconds: number,
  ): Contestant {
    const processes = world.processes ?? 2
    const argument = JSON.stringify({ ...world, processes })
    return {
      name,
      how: `node ${process.version}, ${world.ranks} ranks on ${processes} threads`,
      run: () => bounded(process.execPath, [`${this.#folder}bench/threads-child.js`, argument], limitSeconds),
    }
  }

  /** A C program on Open MPI. `wallMs` is from the start of mpirun to its end. */
  peerOf(
    name: string,
    program: string,
    processes: number,
    words: readonly (string | number)[],
    limitSeconds: number,
    more: readonly string[] = [],
  ): Contestant {
    const placing =
      processes <= 2
        ? ['--bind-to', 'core']
        : ['--oversubscribe', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle', '1']
    const flags = ['-n', String(processes), ...sharedMemory, ...placing, ...more]
    const binary = `${this.#folder}peers/${program}`
    const args = ['--allow-run-as-root', ...flags, binary, limitSeconds, ...words].map(String)
    return {
      name,
      how: `${mpicc} -O3 ${program}.c; ${mpirun} ${flags.join(' ')}`,
      run: () => {
        if ('missing' in this.peer) throw new Error(this.peer.missing)
        return bounded(mpirun, args, limitSeconds)
      },
    }
  }

  close(): void {
    process.off('exit', this.#close)
    this.#close()
  }

  readonly #close = (): void => {
    if (this.#folder !== '') rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Open MPI's command under the name by which Debian tells it from MPICH's, where that is there. */
function openMpi(command: string): string {
  const folders = (process.env['PATH'] ?? '').split(':')
  return folders.some((folder) => existsSync(`${folder}/${command}.openmpi`)) ? `${command}.openmpi` : command
}
const mpicc = openMpi('mpicc')
const mpirun = openMpi('mpirun')

/** What Open MPI would choose here, said explicitly: its own matching over memory that the processes share. */
const sharedMemory = ['--mca', 'pml', 'ob1', '--mca', 'btl', 'self,vader']
/** Payloads in two copies through shared memory; else in one, by the kernel (cross-memory attach). */
export const twoCopies = ['--mca', 'btl_vader_single_copy_mechanism', 'none']

/** Running now. Nothing outlives the benchmark, however it ends. */
const running = new Set<number>()

/** Ends what runs, and the benchmark. */
function endAll(): void {
  for (const pid of running) process.kill(-pid, 'SIGTERM')
  process.exit(130)
}
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, endAll)

/** Runs a program that prints one JSON object as its last line. Ends it, and its children, when its time is up. */
function bounded(command: string, args: readonly string[], limitSeconds: number): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const child = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    if (child.pid !== undefined) running.add(child.pid)
    let out = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    const signal = (name: NodeJS.Signals) => {
      // Its process group: mpirun hands the signal on to the ranks, whose own alarm ends them in any case.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name)
    }
    let late = false
    const politely = setTimeout(() => {
      late = true
      signal('SIGTERM')
    }, limitSeconds * 1000)
    const finally_ = setTimeout(() => signal('SIGKILL'), (limitSeconds + 5) * 1000)
    const stopClock = () => {
      clearTimeout(politely)
      clearTimeout(finally_)
    }
    child.on('error', (error) => {
      stopClock()
      reject(error)
    })
    child.on('close', (code, by) => {
      stopClock()
      if (child.pid !== undefined) running.delete(child.pid)
      const wallMs = performance.now() - begin
      if (late) reject(new Error(`not done within ${limitSeconds} s`))
      else if (code !== 0) reject(new Error(`ended with ${by ?? code}: ${briefly(errors)}`))
      else {
        try {
          resolve({ ...(JSON.parse(out.trim().split('\n').at(-1) ?? '') as Figures), wallMs })
        } catch {
          reject(new Error(`expected figures as JSON, got: ${out.slice(-200)}`))
        }
      }
    })
  })
}

/** The line that says what went wrong. */
function briefly(errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '')
  return (lines.find((line) => /error|wrong/i.test(line)) ?? lines.at(-1) ?? 'no message')
    .trim()
    .slice(0, 300)
}
