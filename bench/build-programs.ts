import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { cProgram } from '../src/export/c-program.js'
import type { Schedule } from '../src/schedule/ir.js'
import { compileLibrary } from '../src/shim/library.js'
import type { ProcessTopology } from '../src/topology/process-topology.js'
import type { Implementation } from './comparison.js'
import { findMpi, type MpiLibrary, type MpiName, type Placing } from './mpi-library.js'
import { runWithTimeout } from './run-with-timeout.js'
import { onSlowNetwork } from './slow-network.js'

const programSources = fileURLToPath(new URL('programs/', import.meta.url))
const baselineSources = fileURLToPath(new URL('baselines/', import.meta.url))
const heapMegabytes = 12_000
const root = fileURLToPath(new URL('../', import.meta.url))

/** A program of `programs/`, and the world it runs on. */
export interface OurWorld {
  readonly program: string
  readonly ranks: number
  readonly processes?: number
  /** On threads. */
  readonly bindTo?: 'core'
  readonly args?: unknown
}

/**
 * How a program in C runs: flags of the launcher, and whether the library of `rankweave shim` is preloaded.
 */
export interface InC {
  readonly flags?: readonly string[]
  readonly isPreloaded?: boolean
}

/** An exported schedule, the options of its program, and flags of the launcher. */
export interface ExportedC {
  readonly schedule: Schedule
  readonly words: readonly string[]
  readonly flags: readonly string[]
}

/**
 * The programs of one benchmark, compiled into a folder that is removed afterwards. Ours are compiled as
 * published: a loader that compiles at run time would be measured too. The folder is inside node_modules,
 * where the compiled library finds its dependencies.
 */
export class BuiltPrograms {
  #folder = ''
  /** Every requested MPI, or the reason why it is missing. */
  readonly #mpis = new Map<MpiName, MpiLibrary | { readonly missing: string }>()
  /** Why there are no baselines in C: ours need no headers of MPI, and are measured without them. */
  readonly #uncompiled = new Map<MpiName, string>()

  /** The library to be preloaded, by folder. */
  readonly #libraries = new Map<string, string>()

  readonly #of: string
  #exported = 0

  /**
   * @param commit of this repository whose library is measured instead of this one's. Programs are those of
   *   today
   */
  constructor(mpis: readonly MpiName[] = ['Open MPI'], commit?: string) {
    process.on('exit', this.#close)
    const cache = `${root}node_modules/.cache/`
    mkdirSync(cache, { recursive: true })
    this.#folder = `${mkdtempSync(`${cache}bench-`)}/`
    this.#of = commit === undefined ? '' : `${commit}, `
    this.#compileOurs(commit)
    cpSync(baselineSources, `${this.#folder}baselines`, { recursive: true })
    for (const name of mpis) {
      const mpi = findMpi(name)
      this.#mpis.set(name, mpi)
      if (!('missing' in mpi)) this.#compileBaselines(mpi)
    }
  }

  #compileOurs(commit: string | undefined): void {
    if (commit === undefined) this.#bundle(root)
    else this.#compileCommit(commit)
    const programs = readdirSync(programSources).map((name) => `programs/${name}`)
    const bareFiles = readdirSync(`${root}bench`).filter((name) => name.startsWith('bare-'))
    const peerFiles = readdirSync(`${root}bench/peers`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `peers/${name}`)
    buildSync({
      entryPoints: [
        ...['child.ts', ...bareFiles, ...programs, ...peerFiles].map((name) => `${root}bench/${name}`),
        `${root}examples/mandelbrot.ts`,
      ],
      outbase: root,
      outdir: this.#folder,
      format: 'esm',
      target: 'node20',
    })
    // `import 'rankweave'` resolves to this package itself, by its name and exports.
    const manifest = {
      name: 'rankweave',
      version: 'bench',
      type: 'module',
      exports: { '.': './src/entry/index.js', './*': './src/entry/*.js' },
    }
    writeFileSync(`${this.#folder}package.json`, JSON.stringify(manifest))
  }

  /** Outside node_modules, where sources would count as those of a package. */
  #compileCommit(commit: string): void {
    const checkout = `${mkdtempSync(`${tmpdir()}/bench-`)}/`
    try {
      const archive = `${checkout}checkout.tar`
      const parts = ['src', 'scripts', 'package.json', 'tsconfig.json']
      execFileSync('git', ['archive', '-o', archive, commit, ...parts], { cwd: root })
      execFileSync('tar', ['-xf', archive, '-C', checkout])
      symlinkSync(`${root}node_modules`, `${checkout}node_modules`)
      this.#bundle(checkout)
    } finally {
      rmSync(checkout, { recursive: true, force: true })
    }
  }

  /** In another process: a build takes time, and a constructor does not wait. @param source with its `scripts` */
  #bundle(source: string): void {
    const script = `import { bundle } from '${source}scripts/build.mjs'; await bundle('${this.#folder}src')`
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  }

  #compileBaselines(mpi: MpiLibrary): void {
    const folder = this.#baselinesOf(mpi)
    mkdirSync(folder)
    try {
      for (const name of readdirSync(baselineSources).filter((name) => name.endsWith('.c'))) {
        execFileSync(mpi.mpicc, ['-O3', '-o', `${folder}${name.slice(0, -2)}`, `${baselineSources}${name}`], {
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      }
    } catch (error) {
      const { stderr } = error as { stderr?: Buffer | string }
      const lines = String(stderr ?? error).split('\n')
      const why = lines.find((line) => line.includes('error')) ?? lines[0]
      this.#uncompiled.set(mpi.name, `the baselines did not compile: ${why}`)
    }
  }

  #baselinesOf({ name }: MpiLibrary): string {
    return `${this.#folder}baselines/${name.replace(' ', '')}/`
  }

  /** Version of an MPI, or null; and the line to report. */
  versionOf(name: MpiName): { readonly version: string | null; readonly said: string } {
    const mpi = this.#mpis.get(name)!
    if ('missing' in mpi) return { version: null, said: `no ${name}: ${mpi.missing}` }
    const without = this.#uncompiled.get(name)
    return { version: mpi.version, said: without === undefined ? mpi.version : `${mpi.version}; ${without}` }
  }

  /** The file of a topology, as baselines/graph.h reads it. */
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

  /** The command as published, whose last line of output is one JSON object. */
  command(words: readonly string[], limitSeconds: number): Promise<object> {
    const [node, ...rest] = this.commandLine(words)
    return runWithTimeout(node, rest, limitSeconds)
  }

  /** The command as published, for another program to start. */
  commandLine(words: readonly string[]): readonly string[] {
    return [process.execPath, `${this.#folder}src/cli/main.js`, ...words]
  }

  /** The compiled program of `baselines/`. @throws Error where it or its library is missing */
  baseline(mpi: MpiName, program: string): string {
    return `${this.#baselinesOf(this.#found(mpi))}${program}`
  }

  /** The file of the library to be preloaded. @throws Error where MPI is missing */
  preloaded(mpi: MpiName): string {
    return this.#library(this.#found(mpi))
  }

  #found(name: MpiName): MpiLibrary {
    const mpi = this.#mpis.get(name)!
    const missing = 'missing' in mpi ? mpi.missing : this.#uncompiled.get(name)
    if (missing !== undefined) throw new Error(missing)
    return mpi as MpiLibrary
  }

  /** A process of Node, whatever it prints: its time only. @param words the library is in the folder `src` */
  onNode(name: string, words: (folder: string) => readonly string[], limitSeconds: number): Implementation {
    const args = words(this.#folder)
    return {
      name,
      how: `${this.#of}node ${process.version}`,
      run: async () => {
        const begin = performance.now()
        await promisify(execFile)(process.execPath, args, { timeout: limitSeconds * 1000 })
        return { wallMs: performance.now() - begin }
      },
    }
  }

  /** A world on `threads`, in its own process. */
  onThreads(name: string, world: OurWorld, limitSeconds: number): Implementation {
    const processes = world.processes ?? 2
    const argument = JSON.stringify({ ...world, fabric: 'threads', processes })
    return {
      name,
      how: `${this.#of}node ${process.version}, ${world.ranks} ranks on ${processes} threads${world.bindTo === undefined ? '' : ', each bound to a core'}`,
      run: () => runWithTimeout(process.execPath, [`${this.#folder}bench/child.js`, argument], limitSeconds),
    }
  }

  /**
   * A world on `websocket`, started by its own process.
   *
   * @param latencyMs of its connections, if not those of this host
   */
  onWebSocket(name: string, world: OurWorld, limitSeconds: number, latencyMs?: number): Implementation {
    const processes = world.processes ?? 2
    const child = `${this.#folder}bench/child.js`
    const run = (execArgv?: readonly string[]) => {
      const argument = JSON.stringify({ ...world, fabric: 'websocket', processes, execArgv })
      return runWithTimeout(process.execPath, [child, argument], limitSeconds)
    }
    return {
      name,
      how: `${this.#of}node ${process.version}, ${world.ranks} ranks on ${processes} processes${slowly(latencyMs)}`,
      run: () => (latencyMs === undefined ? run() : onSlowNetwork(latencyMs, run)),
    }
  }

  /** Two processes and the package `ws`, without this library. */
  inBareWs(name: string, words: readonly string[], limitSeconds: number, latencyMs?: number): Implementation {
    const run = (execArgv: readonly string[]) =>
      runWithTimeout(
        process.execPath,
        [...execArgv, `${this.#folder}bench/bare-ws.js`, ...words],
        limitSeconds,
      )
    return {
      name,
      how: `node ${process.version}, bare ws${slowly(latencyMs)}`,
      run: () => (latencyMs === undefined ? run([]) : onSlowNetwork(latencyMs, run)),
    }
  }

  /** A program of this folder that does not use this library. */
  withoutRanks(
    name: string,
    program: string,
    words: readonly string[],
    limitSeconds: number,
  ): Implementation {
    return {
      name,
      how: `node ${process.version}, ${name}`,
      run: () =>
        runWithTimeout(process.execPath, [`${this.#folder}bench/${program}.js`, ...words], limitSeconds),
    }
  }

  /** A world of logical processes on `local`, in one process that may use most of the memory. */
  onLocal(name: string, world: OurWorld, limitSeconds: number): Implementation {
    const argument = JSON.stringify({ ...world, fabric: 'local' })
    const words = [`--max-old-space-size=${heapMegabytes}`, `${this.#folder}bench/child.js`, argument]
    return {
      name,
      how: `${this.#of}node ${process.version}, ${world.ranks} ranks on ${world.processes ?? 1} logical processes`,
      run: () => runWithTimeout(process.execPath, words, limitSeconds),
    }
  }

  /** A world on `mpi`. */
  onMpi(name: string, mpi: MpiName, world: OurWorld, limitSeconds: number): Implementation {
    const processes = world.processes ?? world.ranks
    const argument = JSON.stringify({ ...world, fabric: 'mpi', processes })
    // Node has its own threads, which would share the core with the program.
    return this.#job(name, mpi, { processes, bound: false }, limitSeconds, [], () => ({
      said: `${this.#of}node ${process.version}, ${world.ranks} ranks on ${processes} processes`,
      words: [process.execPath, `${this.#folder}bench/child.js`, argument],
    }))
  }

  /** Blocking MPI calls from JavaScript, through koffi, without this library. */
  inBareKoffi(name: string, mpi: MpiName, words: readonly string[], limitSeconds: number): Implementation {
    return this.#job(name, mpi, { processes: 2, bound: true }, limitSeconds, [], () => ({
      said: `node ${process.version}, bare koffi`,
      words: [process.execPath, `${this.#folder}bench/bare-koffi.js`, ...words],
    }))
  }

  /** A program of `baselines/`. */
  inC(
    name: string,
    mpi: MpiName,
    program: string,
    processes: number,
    words: readonly (string | number)[],
    limitSeconds: number,
    { flags = [], isPreloaded = false }: InC = {},
  ): Implementation {
    const missing = this.#uncompiled.get(mpi)
    if (missing !== undefined) {
      return { name, how: `no ${program}.c`, run: () => Promise.reject(new Error(missing)) }
    }
    return this.#job(name, mpi, { processes, bound: processes <= 2 }, limitSeconds, flags, (found) => ({
      said: `${found.mpicc} -O3 ${program}.c${isPreloaded ? ', preloaded library' : ''}`,
      words: [
        ...(isPreloaded ? this.#preload(found) : []),
        ...[`${this.#baselinesOf(found)}${program}`, String(limitSeconds), ...words.map(String)],
      ],
    }))
  }

  /** The exported C program of a schedule, which prints JSON by its option -j. */
  inExportedC(
    name: string,
    mpi: MpiName,
    { schedule, words, flags }: ExportedC,
    limitSeconds: number,
  ): Implementation {
    const { ranks } = schedule.specification
    return this.#job(name, mpi, { processes: ranks, bound: false }, limitSeconds, flags, (found) => ({
      said: `${found.version}, ${found.mpicc} -O3, exported ${name}, ${words.join(' ')}`,
      words: [this.#compiledExport(found, schedule), ...words],
    }))
  }

  /** The compiled program of an exported schedule. @throws Error where MPI is missing */
  exportedProgram(mpi: MpiName, schedule: Schedule): string {
    return this.#compiledExport(this.#found(mpi), schedule)
  }

  #compiledExport({ mpicc }: MpiLibrary, schedule: Schedule): string {
    const program = `${this.#folder}exported-${this.#exported++}`
    writeFileSync(`${program}.c`, cProgram(schedule))
    execFileSync(mpicc, ['-O3', '-o', program, `${program}.c`], { stdio: ['ignore', 'pipe', 'pipe'] })
    return program
  }

  /** A command that prints figures as our programs do. */
  inCommand(
    name: string,
    mpi: MpiName,
    processes: number,
    command: readonly string[],
    limitSeconds: number,
    { flags = [], isPreloaded = false }: InC = {},
  ): Implementation {
    return this.#job(name, mpi, { processes, bound: processes <= 2 }, limitSeconds, flags, (found) => ({
      said: `${command[0]}${isPreloaded ? ', preloaded library' : ''}`,
      words: [...(isPreloaded ? this.#preload(found) : []), ...command],
    }))
  }

  /** What puts the library into a process, and not into its launcher. */
  #preload(mpi: MpiLibrary): readonly string[] {
    return ['env', `LD_PRELOAD=${this.#library(mpi)}`]
  }

  #library({ mpicc, name }: MpiLibrary): string {
    const folder = `${this.#folder}shim/${name.replace(' ', '')}`
    const library = this.#libraries.get(folder) ?? compileLibrary(folder, mpicc).library
    this.#libraries.set(folder, library)
    return library
  }

  #job(
    name: string,
    mpiName: MpiName,
    placing: Placing,
    limitSeconds: number,
    more: readonly string[],
    command: (mpi: MpiLibrary) => { readonly said: string; readonly words: readonly string[] },
  ): Implementation {
    const mpi = this.#mpis.get(mpiName)!
    if ('missing' in mpi) {
      return { name, how: `no ${mpiName}`, run: () => Promise.reject(new Error(mpi.missing)) }
    }
    const { said, words } = command(mpi)
    const flags = ['-n', String(placing.processes), ...mpi.flags(placing), ...more]
    return {
      name,
      how: `${said}; ${mpi.mpirun} ${flags.join(' ')}`,
      run: () => runWithTimeout(mpi.mpirun, [...flags, ...words], limitSeconds, mpi.env),
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

const slowly = (latencyMs: number | undefined) =>
  latencyMs === undefined ? '' : `, ${latencyMs} ms latency by a proxy`

/**
 * Flags of Open MPI for two copies through shared memory; the default is one copy by the kernel (cross-memory
 * attach).
 */
export const twoCopies = ['--mca', 'btl_vader_single_copy_mechanism', 'none']
