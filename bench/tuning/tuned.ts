import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bench, type BenchOptions, type Figure, ownFigure } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { type Case, figuresOf, type Implementation } from '../comparison.js'
import { bytesText } from '../message-plans.js'
import type { CallCase } from '../programs/calls.js'
import { runWithTimeout } from '../run-with-timeout.js'

/**
 * What do programs gain by a tuning file? First `rankweave measure` and `tune` make one; then calls with it and without
 * it take turns. Suites: `threads` and `openmpi`, collectives of this library in 4 processes; `nodes`, a program in C on
 * 16 processes of Open MPI on four nodes, by a file of rules and by the preloaded library.
 */
export const tunedBench: Bench = {
  name: 'tuned',
  question: 'What do programs gain by a tuning file that was learned on the same machine?',
  async *measure(options: BenchOptions = {}) {
    const { only = '' } = options
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-tuned-'))
    const built = new BuiltPrograms(['Open MPI'])
    try {
      for (const [name, sideOf] of Object.entries(sides))
        if (name.startsWith(only)) yield* measureSide(name, sideOf({ built, folder, name }), options)
    } finally {
      built.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const collectives = ['allreduce', 'bcast', 'allgather', 'alltoall'] as const
const sizes = [8, 32, 128, 512, 2048, 8192, 2 ** 15, 2 ** 17, 2 ** 19, 2 ** 20]
const limitSeconds = 600
const measuringSeconds = 3600
/** A point whose whole 95% interval lies above this is a loss. */
const intervalLimit = 1.05

/** What suites share, and the name of this one. */
interface Place {
  readonly built: BuiltPrograms
  readonly folder: string
  readonly name: string
}

/** Where calls run. */
interface Side {
  readonly where: string
  /** Measures, and writes the tuning file. @returns what `rankweave tune --json` says */
  learn(isQuick: boolean): Promise<Learned>
  readonly untuned: Implementation
  /** By what each is tuned, and the target of the geometric mean. */
  readonly tuned: readonly Implementation[]
  readonly geometricMean: number
}

/** Of the output of `rankweave tune --json`. */
interface Learned {
  readonly collectives: readonly {
    readonly collective: string
    readonly calls: number
    readonly settings: number
    readonly leaves: number
    readonly heldOut: { readonly meanPercent: number; readonly folds: readonly unknown[] } | null
    readonly default: { readonly meanPercent: number }
  }[]
}

async function* measureSide(name: string, side: Side, options: BenchOptions): AsyncGenerator<Figure> {
  const { where, untuned, tuned, geometricMean } = side
  console.error(`${name}: measuring and learning`)
  const { collectives: learned } = await side.learn(options.quick === true)
  yield* learned.map((one) => learnedFigure(where, one))
  const cases = tuned.flatMap((by) =>
    collectives.flatMap((collective) =>
      sizes.map(
        (bytes): Case => ({
          case: `${collective} of ${bytesText(bytes)}, ${where}, by ${by.name}`,
          unit: 'us',
          ours: by.name,
          key: `${collective} ${bytes}`,
          baselines: [untuned.name],
          intervalLimit,
          details: { by: by.name, collective, sizeBytes: bytes },
        }),
      ),
    ),
  )
  const ratios = new Map(tuned.map((by) => [by.name, [] as number[]]))
  const suite = { name, implementations: [untuned, ...tuned], cases, runs: 7 }
  for await (const figure of figuresOf([suite], options)) {
    if (figure.ratio !== null) ratios.get(figure['by'] as string)!.push(figure.ratio)
    yield figure
  }
  for (const [by, each] of ratios) {
    const mean = Math.exp(each.reduce((sum, ratio) => sum + Math.log(ratio), 0) / each.length)
    const what = `${where}, by ${by}: geometric mean of the ratios of ${each.length} calls`
    yield ownFigure(what, 'ratio', each.length === 0 ? [Number.NaN] : [mean], geometricMean)
  }
}

/** What the tree loses on numbers of processes that it has not seen. */
function learnedFigure(where: string, one: Learned['collectives'][number]): Figure {
  const { collective, calls, settings, leaves, heldOut } = one
  const byDefault = one.default.meanPercent
  const what = `${collective}, ${where}, ${calls} calls of ${settings} settings: mean penalty on held-out points`
  const shown = `default ${byDefault.toFixed(1)}%, ${leaves} leaves`
  const details = { collective, leaves, defaultPercent: byDefault, shown }
  const percent = heldOut?.meanPercent ?? Number.NaN
  const figure = ownFigure(what, '%', [percent], 5, details)
  const isHalf = byDefault <= 4 || percent <= byDefault / 2
  return { ...figure, met: heldOut !== null && percent <= 5 && isHalf && leaves <= 60 }
}

const learnedWords = (data: string, file: string) => ['tune', data, '-o', file, '--json']
/** Of a point, in milliseconds. */
const budgetOf = (isQuick: boolean) => ['--budget', isQuick ? '50' : '400']

/** Every call in a world of 4 processes, as `bench/programs/calls.ts` times it. */
const callCases = collectives.flatMap((call) =>
  sizes.map(
    (bytes): CallCase => ({
      ...{ key: `${call} ${bytes}`, call, bytes },
      ...{ warmUp: 2000, warmUpMs: 500, iterations: 100, batches: 31 },
    }),
  ),
)

/** This library's collectives in 4 processes. @param measure runs `rankweave measure` there */
function onFabric(
  { built, folder, name }: Place,
  where: string,
  on: (name: string) => Implementation,
  measure: (words: readonly string[]) => Promise<unknown>,
): Side {
  const [data, file] = ['jsonl', 'json'].map((ending) => join(folder, `${name}.${ending}`))
  return {
    where,
    async learn(isQuick) {
      const spreads = ['--spreads', '1x2,1x3,1x4']
      await measure(['measure', ...collectives, ...spreads, '-o', data, '--json', ...budgetOf(isQuick)])
      return (await built.command(learnedWords(data, file), limitSeconds)) as Learned
    },
    untuned: on('default'),
    tuned: [withEnvironment(on('tuning file'), 'RANKWEAVE_TUNING', file)],
    geometricMean: 0.95,
  }
}

const ownWorld = { program: 'calls', ranks: 4, processes: 4, args: callCases }

function onThreads(place: Place): Side {
  const { built } = place
  const fabric = ['--fabric', 'threads', '--processes', '4']
  return onFabric(
    place,
    '4 threads',
    (name) => built.onThreads(name, ownWorld, limitSeconds),
    (words) => built.command([...words, ...fabric], measuringSeconds),
  )
}

function onOpenMpi(place: Place): Side {
  const { built } = place
  return onFabric(
    place,
    '4 processes of Open MPI',
    (name) => built.onMpi(name, 'Open MPI', ownWorld, limitSeconds),
    (words) => {
      const command = built.commandLine([...words, '--fabric', 'mpi'])
      return built.inCommand('measuring', 'Open MPI', 4, command, measuringSeconds).run()
    },
  )
}

/** The library's own algorithms, between processes of which four share a node. */
function onNodes({ built, folder }: Place): Side {
  const [data, file, rules] = ['nodes.jsonl', 'nodes.json', 'rules.txt'].map((name) => join(folder, name))
  const program = [built.baseline('Open MPI', 'calls'), String(limitSeconds), ...sizes.map(String)]
  const run = (name: string, flags: readonly string[]): Implementation => ({
    name,
    how: `16 processes of Open MPI on four nodes ${flags.join(' ')}`,
    run: () => besideNodes([...flags, ...program]),
  })
  const dynamic = ['--mca', 'coll_tuned_use_dynamic_rules', '1']
  return {
    where: '16 processes of Open MPI on four nodes',
    async learn(isQuick) {
      const words = ['--source', 'mpi', '--launch', launchVariable, '--mpicc', 'mpicc.openmpi', '-o', data]
      const range = ['--bytes', '8:1MiB', '--json', ...budgetOf(isQuick)]
      const command = built.commandLine(['measure', ...collectives, ...words, ...range])
      // The shell knows how programs are started there only once the nodes are up.
      const quoted = command.map((word) => (word === launchVariable ? `"${word}"` : `'${word}'`))
      await runWithTimeout(fourNodes, ['16', 'sh', '-c', quoted.join(' ')], measuringSeconds)
      // The program is `calls`: reductions by MPI_SUM, and equal arguments on all ranks.
      const assumed = ['--assume', 'commutative,equal-arguments']
      const outputs = ['--ompi-rules', rules, '--per-node', '4', ...assumed]
      return (await built.command([...learnedWords(data, file), ...outputs], limitSeconds)) as Learned
    },
    untuned: run('default', []),
    tuned: [
      run('rules', [...dynamic, '--mca', 'coll_tuned_dynamic_rules_filename', rules]),
      run('preloaded library', [
        ...['-x', `LD_PRELOAD=${built.preloaded('Open MPI')}`],
        ...['-x', `RANKWEAVE_SHIM=tune:${file}`],
      ]),
    ],
    geometricMean: 0.9,
  }
}

const sides = { threads: onThreads, openmpi: onOpenMpi, nodes: onNodes }

const fourNodes = fileURLToPath(new URL('../four-nodes.sh', import.meta.url))
const launchVariable = '$FOUR_NODES_MPIRUN'

function besideNodes(words: readonly string[]) {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  return runWithTimeout(fourNodes, ['16', 'sh', '-c', `"${launchVariable}" ${quoted}`], limitSeconds)
}

/** With a variable of the environment while it runs: only one runs at a time. */
function withEnvironment(implementation: Implementation, name: string, value: string): Implementation {
  return {
    ...implementation,
    how: `${implementation.how}, ${name}`,
    async run() {
      process.env[name] = value
      try {
        return await implementation.run()
      } finally {
        delete process.env[name]
      }
    },
  }
}
