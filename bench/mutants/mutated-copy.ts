import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DrawnMutant, placed, type Source } from './draw-mutants.js'
import type { MutantRun, SuiteName, TestedFile } from './in-copy/mutant-run.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const runner = 'bench/mutants/in-copy'

/** As the tests compile the library that is preloaded. */
const cFlags = [
  ...['-std=c99', '-O2', '-fPIC', '-pthread', '-D_GNU_SOURCE', '-DRW_MPI(name)=PMPI_##name'],
  ...['-Wall', '-Wextra', '-Werror', '-x', 'c', '-c', '-', '-o', '/dev/null'],
]

/** The git object of a commit, or of a folder in it. */
export function objectOf(name: string): string {
  return execFileSync('git', ['rev-parse', '--verify', name], { cwd: root, encoding: 'utf8' }).trim()
}

/** How a run ended. It may fail although no test file does: by an error that no test catches. */
interface Ended {
  readonly files: readonly TestedFile[]
  readonly hasPassed: boolean
}

/** A copy of a commit in which all mutants are built and tests run, with one mutant or none at a time. */
export class MutatedCopy {
  readonly #scratch = mkdtempSync(join(tmpdir(), 'rwm-'))
  readonly #folder = join(this.#scratch, 'copy')
  readonly #compilers = ['mpicc.openmpi', 'mpicc.mpich'].filter(
    (name) => spawnSync(name, ['--version']).status === 0,
  )
  #runs = 0

  /** @param tests the commit of the tests and their configurations; the rest is of HEAD */
  constructor(tests: string) {
    process.on('exit', () => rmSync(this.#scratch, { recursive: true, force: true }))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
    mkdirSync(this.#folder)
    this.#extract('HEAD')
    rmSync(join(this.#folder, 'test'), { recursive: true })
    this.#extract(tests, 'test', 'vitest.config.ts', 'vitest.soak.config.ts')
    cpSync(join(root, runner), join(this.#folder, runner), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'))
  }

  #extract(...commitAndPaths: readonly string[]): void {
    const script = 'git archive "$@" | tar -x -C "$0"'
    execFileSync('sh', ['-c', script, this.#folder, ...commitAndPaths], { cwd: root })
  }

  /** What can have mutants: modules, and C where it can be compiled. */
  sources(): Source[] {
    const hasC = this.#compilers.length > 0
    if (!hasC) console.error('no mutants in C: neither mpicc.openmpi nor mpicc.mpich')
    return readdirSync(join(this.#folder, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') || (hasC && /\/c\/.*\.[ch]$/.test(name)))
      .sort()
      .map((name) => ({ path: `src/${name}`, text: readFileSync(join(this.#folder, 'src', name), 'utf8') }))
  }

  /** Whether a C source compiles without a warning for every MPI of this machine. */
  compiles({ path }: Source, text: string): boolean {
    const include = [posix.dirname(path), 'src/export/c'].map((folder) => `-I${join(this.#folder, folder)}`)
    return this.#compilers.every(
      (compiler) => spawnSync(compiler, [...include, ...cFlags], { input: text }).status === 0,
    )
  }

  /** Writes the mutants into the sources, and builds what tests run. */
  build(sources: readonly Source[], mutants: readonly DrawnMutant[]): void {
    cpSync(join(root, runner, 'mutant-switch.ts'), join(this.#folder, 'src/mutant-switch.ts'))
    for (const source of sources) {
      const own = mutants.filter(({ path }) => path === source.path)
      if (own.length > 0) writeFileSync(join(this.#folder, source.path), placed(source, own))
    }
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: this.#folder, stdio: 'inherit' })
  }

  /**
   * Runs the test files of a suite once, unchanged: how they end, and the mutants that each of them reaches.
   *
   * @param only words, of which the paths of test files hold one; none for all files
   */
  async reach(suite: SuiteName, only: readonly string[]) {
    const hits = join(this.#scratch, `hits-${suite}`)
    mkdirSync(hits)
    const { files } = await this.#run({ suite, hits }, only, {}, null)
    return files.map((file) => {
      const noted = join(hits, encodeURIComponent(file.path))
      const ids = existsSync(noted) ? readFileSync(noted, 'utf8').match(/\d+/g) : null
      return { ...file, reached: [...new Set(ids)].map(Number) }
    })
  }

  /** Runs test files with a mutant, each within its seconds, up to the first that fails or hangs. */
  kill(suite: SuiteName, id: number, limits: NonNullable<MutantRun['limits']>): Promise<Ended> {
    const most = limits.reduce((sum, [, seconds]) => sum + seconds, 60)
    const words = ['--bail', '1', '--maxWorkers', '1', ...limits.map(([path]) => path)]
    return this.#run({ suite, limits }, words, { RANKWEAVE_MUTANT: String(id) }, most)
  }

  async #run(
    settings: Omit<MutantRun, 'report'>,
    words: readonly string[],
    env: Readonly<Record<string, string>>,
    limitSeconds: number | null,
  ): Promise<Ended> {
    const own = join(this.#scratch, String(this.#runs++))
    const [told, report] = [join(own, 'run.json'), join(own, 'report')]
    mkdirSync(own)
    writeFileSync(told, JSON.stringify({ ...settings, report }))
    writeFileSync(report, '')
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', `${runner}/vitest.config.ts`]
    // A mutant may allocate memory for good.
    const limited = ['-c', 'ulimit -d 8000000; exec "$@"', 'sh', process.execPath, ...vitest, ...words]
    const child = spawn('sh', limited, {
      cwd: this.#folder,
      // Soak runs the same rows for all commits.
      env: { RANKWEAVE_SOAK_SEED: '1', ...process.env, RANKWEAVE_MUTANT_RUN: told, TMPDIR: own, ...env },
      stdio: settings.hits === undefined ? 'ignore' : ['ignore', 2, 2],
    })
    const end = (signal: NodeJS.Signals) => signalMarked(`RANKWEAVE_MUTANT_RUN=${told}`, signal)
    const endAtOnce = () => end('SIGKILL')
    // Before the copy is removed.
    process.prependOnceListener('exit', endAtOnce)
    const clock = limitSeconds === null ? null : setTimeout(endAtOnce, limitSeconds * 1000)
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
    if (clock !== null) clearTimeout(clock)
    // Launchers of MPI remove what they have in shared memory.
    if (end('SIGTERM') > 0) await sleep(500)
    endAtOnce()
    process.off('exit', endAtOnce)
    const files = readFileSync(report, 'utf8').split('\n').filter(Boolean)
    rmSync(own, { recursive: true, force: true })
    return { files: files.map((line) => JSON.parse(line)), hasPassed: code === 0 }
  }
}

/** Signals all processes that have a setting in their environment, in whatever group; returns how many. */
function signalMarked(setting: string, signal: NodeJS.Signals): number {
  let count = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(setting)) continue
      process.kill(Number(pid), signal)
      count++
    } catch {
      // It is another user's, or has ended.
    }
  }
  return count
}
