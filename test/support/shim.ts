import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe } from 'vitest'
import { ownSources } from '../../src/shim/library.js'
import { packedEnding, packedTuning } from '../../src/shim/packed-files.js'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { shims } from './compile-sources.js'
import { describeMpi, type Ended, type Mpi, runProgram } from './mpi.js'
import { compilerOf } from './mpi-collectives.js'
import { tuningFileOf } from './mpi-tuning-file.js'
import { root } from './newer.js'
import { temporaryFolder } from './temporary-folder.js'

const ownFolder = fileURLToPath(new URL('shim/', import.meta.url))

/** Path of a program of test/support/shim. */
export const sourceOf = (name: string): string => join(ownFolder, name.includes('.') ? name : `${name}.c`)

const compiledShims = root + shims

// Without optimization: most is compiled for a few runs. MPICH declares constants as arrays of no length.
const flags = ['-std=c99', '-O0', '-pthread', '-Wall', '-Wextra', '-Werror']
const ofPrograms = [...flags, '-Wno-stringop-overread', '-Wno-stringop-overflow']
const ofLibrary = [...flags, '-fPIC', '-fvisibility=hidden', '-D_GNU_SOURCE', '-DRW_MPI(name)=PMPI_##name']
const linked = ['-pthread', '-Wl,--no-as-needed', '-lm', '-ldl', '-lrt']

/** What `cases` runs. */
const programsOfCases = /^program (.*);$/m.exec(readFileSync(sourceOf('cases.h'), 'utf8'))![1].split(', ')

type Environment = Readonly<Record<string, string>>

/** `['forms 3', 'ends']` as arguments of `cases`. */
const wordsOf = (cases: readonly string[]) =>
  cases.flatMap((text, i) => [...(i > 0 ? ['--'] : []), ...text.split(' ')])

/** What a job prints in which all cases are right. */
export const right = (...cases: readonly string[]) => ({
  code: 0,
  stdout: cases.map((text) => `${text}: right\n`).join(''),
})

/** The preloaded library of an MPI, and programs of test/support/shim. */
export class Shim {
  readonly mpi: Mpi
  readonly mpicc: string
  readonly #folder: () => string
  #compiled = ''

  constructor(mpi: Mpi, mpicc: string, folder: () => string) {
    this.mpi = mpi
    this.mpicc = mpicc
    this.#folder = folder
  }

  /** Path of the library. */
  get library(): string {
    return join(this.#compiled, 'librankweave_shim.so')
  }

  /** A path in a folder of the test file. */
  path(name: string): string {
    return join(this.#folder(), name)
  }

  /** Writes a tuning file for this MPI, with its packed form; returns its path. */
  writeTuning(name: string, decisions: TuningFile['decisions']): string {
    const path = this.path(name)
    const file = tuningFileOf(this.ownName(), decisions)
    writeFileSync(path, JSON.stringify(file))
    writeFileSync(`${path}${packedEnding}`, packedTuning(file))
    return path
  }

  /** What tuning files call this MPI. */
  ownName(): string {
    const path = this.path('another.json')
    writeFileSync(`${path}${packedEnding}`, packedTuning(tuningFileOf('another library 1', {})))
    const { stdout } = spawnSync(this.parts, ['decide', path], { encoding: 'utf8' })
    return /this program uses (.*)$/m.exec(stdout)![1]
  }

  /** Path of a program, compiled when it is needed first. */
  program(name: string, ...extra: readonly string[]): string {
    return this.#once(name, (file) => [...extra, '-o', file, sourceOf(name), '-ldl', '-lm'])
  }

  /** Path of a library that is preloaded besides, or loaded by a program. */
  tool(name: string, file = `${name}.so`, ...extra: readonly string[]): string {
    const shared = ['-shared', '-fPIC', ...extra]
    return this.#once(file, (path) => [...shared, '-o', path, sourceOf(name), '-ldl'])
  }

  /** Path of the program that runs parts of the library, with which it is linked, without MPI. */
  get parts(): string {
    return join(this.#compiled, 'parts')
  }

  /**
   * Runs cases one after the other in a job, with the library preloaded into its processes.
   *
   * @param cases programs of cases.h with their arguments
   * @param tools libraries that are preloaded behind it
   */
  run(ranks: number, cases: readonly string[], env: Environment = {}, tools: readonly string[] = []) {
    return this.start(ranks, this.caseCommand(...cases), env, [this.library, ...tools])
  }

  /** The command that runs cases. */
  caseCommand(...cases: readonly string[]): readonly string[] {
    return [join(this.#compiled, 'cases'), ...wordsOf(cases)]
  }

  /** A command that runs cases, after process `rank` has done something else to its environment than all others. */
  unless(rank: number, change: string, ...cases: readonly string[]): readonly string[] {
    const script = `[ "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = ${rank} ] && ${change}; exec "$@"`
    return ['sh', '-c', script, 'sh', ...this.caseCommand(...cases)]
  }

  /**
   * Runs a program with libraries preloaded into its processes, and not into the launcher. Runs it once more if Open MPI
   * called code that it had unloaded, and prints that.
   */
  async start(
    ranks: number,
    command: readonly string[],
    env: Environment = {},
    preloaded: readonly string[] = [this.library],
  ): Promise<Ended> {
    const words = ['env', `LD_PRELOAD=${preloaded.join(':')}`, ...command]
    return runProgram(this.mpi, ranks, words, env)
  }

  /**
   * Compiles the library and the programs that most tests run, unless a test file has done so since their sources changed.
   * Another vitest worker may do the same at this time: the folder appears whole.
   */
  async compile(): Promise<void> {
    const programs = readdirSync(ownFolder).map((name) => readFileSync(join(ownFolder, name), 'utf8'))
    const hash = createHash('sha256').update(
      JSON.stringify([this.mpicc, ofPrograms, ofLibrary, ownSources(), programs]),
    )
    this.#compiled = join(compiledShims, hash.digest('hex').slice(0, 32))
    if (existsSync(this.#compiled)) {
      const now = new Date()
      utimesSync(this.#compiled, now, now)
      return
    }
    mkdirSync(compiledShims, { recursive: true })
    const fresh = mkdtempSync(`${this.#compiled}-`)
    try {
      await compileAll(this.mpicc, fresh)
      renameSync(fresh, this.#compiled)
    } catch (error) {
      rmSync(fresh, { recursive: true })
      if (!existsSync(this.#compiled)) throw error
    }
  }

  #once(file: string, words: (path: string) => readonly string[]): string {
    const path = join(this.#compiled, file)
    if (existsSync(path)) return path
    const draft = `${path}.${process.pid}`
    execFileSync(this.mpicc, [...ofPrograms, ...words(draft)])
    renameSync(draft, path)
    return path
  }
}

const run = promisify(execFile)

/** As many compilers as there are cores compile units, then the library and the programs are linked. */
async function compileAll(mpicc: string, folder: string): Promise<void> {
  const [objects, sources] = [join(folder, 'objects'), join(folder, 'sources')]
  for (const made of [objects, sources]) mkdirSync(made)
  for (const { name, text } of ownSources()) writeFileSync(join(sources, name), text)
  const object = (name: string) => join(objects, `${name}.o`)
  const unit = (source: string, name: string, words: readonly string[]) =>
    [...words, `-I${sources}`, '-c', '-o', object(name), source] as const
  const units = ownSources().flatMap(({ name }) => (name.endsWith('.c') ? [name.slice(0, -2)] : []))
  const cases = ['cases', 'collectives', ...programsOfCases]
  const work = [
    ...units.map((name) => unit(join(sources, `${name}.c`), name, ofLibrary)),
    ...cases.map((name) => unit(sourceOf(name), `case-${name}`, ofPrograms)),
    unit(sourceOf('parts'), 'parts', [...ofPrograms, '-D_GNU_SOURCE', '-DRW_MPI(name)=PMPI_##name']),
  ].reverse()
  const worker = async () => {
    for (let words = work.pop(); words !== undefined; words = work.pop()) await run(mpicc, words)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  const link = (name: string, from: readonly string[], ...words: readonly string[]) =>
    run(mpicc, [...words, '-o', join(folder, name), ...from.map(object), ...linked])
  await Promise.all([
    link('librankweave_shim.so', units, '-shared'),
    link(
      'cases',
      cases.map((name) => `case-${name}`),
    ),
    link('parts', ['parts', ...units]),
  ])
}

/** Cases for every MPI that has a C compiler. `describeEach` takes every MPI, or one of them. */
export function describeShim(title: string, cases: (shim: Shim) => void, describeEach = describeMpi): void {
  describeEach(title, (mpi) => {
    const mpicc = compilerOf(mpi)
    describe.skipIf(mpicc === null)('with a C compiler', () => {
      const shim = new Shim(mpi, mpicc!, temporaryFolder('shim'))
      beforeAll(() => shim.compile())
      cases(shim)
    })
  })
}
