import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BenchOptions, type Figure, median } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { ratioInterval } from '../compare/interval.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const fourNodes = `${root}bench/four-nodes.sh`
/** Of all nodes together. */
const processes = 8
const limitMs = 600_000
const iterations = 20
const evaluations = 10
/** The interval of the ratio tuned / default must not be wholly above it. */
const intervalLimit = 1.03

type OnlineUse = 'tuning' | 'tuned'

/** A program whose seconds are the last number that it prints before ` s` or as a member `seconds`. */
interface RealProgram {
  readonly name: string
  /** Why it cannot run here; null: it can. */
  readonly missing: string | null
  /** Words after the launcher; undefined: without online tuning. */
  words(folder: string, use: OnlineUse | undefined): readonly string[]
}

/** Programs on four nodes that are connected by TCP, ours and in C. */
function realPrograms(built: BuiltPrograms, folder: string): RealProgram[] {
  const inC = (name: string, ...words: readonly string[]): RealProgram => {
    const source = `${root}examples/c/${name}.c`
    if (!existsSync(source)) return { name, missing: `no examples/c/${name}.c`, words: () => [] }
    const program = join(folder, name)
    execFileSync('mpicc.openmpi', ['-O2', '-o', program, source, '-lm'])
    const preloaded = ['-x', `LD_PRELOAD=${built.preloaded('Open MPI')}`]
    const shim = (runs: string, use: OnlineUse) => ['-x', `RANKWEAVE_SHIM=online:${runs},mode=${use}`]
    return {
      name: `${name}.c`,
      missing: null,
      words: (runs, use) => [
        ...(use === undefined ? [] : [...preloaded, ...shim(runs, use)]),
        program,
        ...words,
      ],
    }
  }
  const ours = (name: string, ...words: readonly string[]): RealProgram => ({
    name: `${name}.ts`,
    missing: null,
    words: (runs, use) => [
      ...built.commandLine(['run', `${root}examples/${name}.ts`, '-n', String(processes), '--fabric', 'mpi']),
      ...(use === undefined ? [] : ['--tuning', `${use === 'tuned' ? 'tuned' : 'online'}:${runs}`]),
      ...['--json', '--', ...words],
    ],
  })
  return [
    // Scalar products of 64 systems: 512 bytes.
    ours('conjugate-gradients', '200', '64', '10', 'seconds'),
    inC('conjugate-gradients', '200', '64', '20'),
    inC('transposition', '16', '500'),
  ]
}

/**
 * Real programs with online tuning: {@link iterations} times a run that explores and `rankweave learn`, then
 * {@link evaluations} runs with what was learned and as many by default, in turns.
 *
 * @param options `only`: `programs` or the beginning of `programs NAME`
 */
export async function* measurePrograms({ only = '', quick = false }: BenchOptions): AsyncGenerator<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-online-programs-'))
  const built = new BuiltPrograms(['Open MPI'])
  try {
    for (const program of realPrograms(built, folder)) {
      if (!`programs ${program.name}`.startsWith(only)) continue
      if (program.missing === null) yield await measureProgram(program, built, folder, quick)
      else console.error(`${program.name}: ${program.missing}`)
    }
  } finally {
    built.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureProgram(
  { name, words }: RealProgram,
  built: BuiltPrograms,
  folder: string,
  quick: boolean,
): Promise<Figure> {
  const runs = join(folder, `runs-${basename(name)}`)
  mkdirSync(runs)
  const seconds = (use?: OnlineUse) => secondsBesideNodes(words(runs, use))
  const exploring: number[] = []
  const count = quick ? 3 : iterations
  for (let i = 0; i < count; i++) {
    exploring.push(await seconds('tuning'))
    await built.command(['learn', runs, '--json'], limitMs / 1000)
    console.error(`${name}: iteration ${i + 1} of ${count}, ${exploring[i].toFixed(3)} s`)
  }
  const tuned: number[] = []
  const byDefault: number[] = []
  for (let i = 0; i < (quick ? 3 : evaluations); i++) {
    const sides = [
      () => seconds('tuned').then((s) => tuned.push(s)),
      () => seconds().then((s) => byDefault.push(s)),
    ]
    for (const side of i % 2 === 0 ? sides : sides.toReversed()) await side()
    console.error(`${name}: tuned ${tuned[i].toFixed(3)} s, default ${byDefault[i].toFixed(3)} s`)
  }
  const [low, high] = ratioInterval(byDefault, tuned)
  const [ours, peer] = [median(tuned), median(byDefault)]
  return {
    case: `${name}, ${processes} processes on four nodes over TCP, tuned after ${count} iterations`,
    ...{
      unit: 's',
      ours,
      peer,
      ratio: ours / peer,
      target: intervalLimit,
      targetOf: '95% interval of ratio',
    },
    ...{ met: low <= intervalLimit, runs: tuned.length, low, high, exploringSeconds: median(exploring) },
  }
}

async function secondsBesideNodes(words: readonly string[]): Promise<number> {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const shell = [String(processes), 'sh', '-c', `"$FOUR_NODES_MPIRUN" ${quoted}`]
  const { stdout } = await promisify(execFile)(fourNodes, shell, { timeout: limitMs, maxBuffer: 2 ** 24 })
  if (/wrong|"isRight":false/.test(stdout)) throw new Error(`a wrong result: ${stdout}`)
  const [, found] = /"seconds":([\d.e-]+)/.exec(stdout) ?? /([\d.]+) s\s*$/.exec(stdout) ?? []
  if (found === undefined) throw new Error(`expected seconds, got: ${stdout.slice(-200)}`)
  return Number(found)
}
