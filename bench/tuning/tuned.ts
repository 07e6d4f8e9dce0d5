import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EvenSpread, spreadText } from '../../src/measure/grid.js'
import type { Bench, BenchOptions, Figure } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { type Case, figuresOf, type Implementation } from '../comparison.js'
import { bytesText, wholeSizes } from '../message-plans.js'
import type { CallCase } from '../programs/calls.js'
import { runWithTimeout } from '../run-with-timeout.js'
import {
  choicesOf,
  geometricMeanFigure,
  intervalLimit,
  type Learned,
  learnedFigure,
  lossFigures,
  type Measured,
  measuredFigure,
} from './tuned-figures.js'

/**
 * What do programs gain by a tuning file? First `rankweave measure` and `tune` make one; then calls with it and without
 * it take turns. Suites: `threads` and `openmpi`, collectives of this library in 4 processes; `nodes`, a program in C on
 * 16 processes of Open MPI on four nodes, by a file of rules and by the preloaded library.
 *
 * A third run is without it again: by how much it differs from the first is chance.
 *
 * A call is timed by itself, as `measure` does, which targets are of; and in a row, where a root does not wait for its
 * last receiver, so that a bcast may take less than its data need.
 */
export const tunedBench: Bench = {
  name: 'tuned',
  question: 'What do programs gain by a tuning file that was learned on the same machine?',
  async *measure(options: BenchOptions = {}) {
    const { only = '' } = options
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-tuned-'))
    const built = new BuiltPrograms(['Open MPI'])
    try {
      for (const [name, { sideOf, sizes: usual, budgetMs: full }] of Object.entries(sides)) {
        if (!name.startsWith(only)) continue
        const sizes = options.sizes === undefined ? usual : wholeSizes(options.sizes)
        const place = { built, folder, name, sizes, budgetMs: options.quick === true ? quickBudgetMs : full }
        yield* measureSide(name, sideOf(place), place, options)
      }
    } finally {
      built.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const collectives = ['allreduce', 'bcast', 'allgather', 'alltoall'] as const
const limitSeconds = 600
const measuringSeconds = 3600

/** What suites share, and the name of this one. */
interface Place {
  readonly built: BuiltPrograms
  readonly folder: string
  readonly name: string
  /** Of calls that are measured and compared. */
  readonly sizes: readonly number[]
  /** What a point may take while decisions are measured. */
  readonly budgetMs: number
}

/** Where calls run. */
interface Side {
  readonly where: string
  /** Nodes and processes on each while decisions are measured; calls are compared on the last of these spreads. */
  readonly spreads: readonly EvenSpread[]
  readonly data: string
  readonly file: string
  /** Measures. @returns how many points */
  measure(words: readonly string[]): Promise<Measured>
  /** What `rankweave tune` is asked for besides. */
  readonly outputs: readonly string[]
  readonly untuned: Implementation
  /** By what each is tuned. */
  readonly tuned: readonly Implementation[]
  /** The target of the geometric mean of each. */
  readonly geometricMean: number
  readonly runs: number
}

/** How a call is timed. */
interface Timing {
  readonly name: string
  keyOf(collective: string, bytes: number): string
}

/** As `rankweave measure` times it: targets are of these. */
const byItself: Timing = {
  name: 'by itself',
  keyOf: (collective, bytes) => `${collective} ${bytes} isolated`,
}
const inARow: Timing = { name: 'in a row', keyOf: (collective, bytes) => `${collective} ${bytes}` }

async function* measureSide(
  name: string,
  side: Side,
  { sizes, budgetMs, built }: Place,
  options: BenchOptions,
): AsyncGenerator<Figure> {
  const { where, untuned, tuned, geometricMean, spreads, data, file } = side
  // What it gains and loses is chance.
  const again: Implementation = { ...untuned, name: `${untuned.name} again` }
  const compared = [...tuned, again]
  console.error(`${name}: measuring`)
  const begin = performance.now()
  const grid = ['--spreads', spreads.map(spreadText).join(), '--bytes', sizes.join()]
  const { measured } = await side.measure([...grid, '-o', data, '--json', '--budget', String(budgetMs)])
  yield measuredFigure(where, measured, (performance.now() - begin) / 1000, { spreads, sizes, budgetMs })
  const words = ['tune', data, '-o', file, '--json', ...side.outputs]
  const { collectives: learned } = (await built.command(words, limitSeconds)) as Learned
  yield* learned.map((one) => learnedFigure(where, one))

  const choices = choicesOf(readFileSync(data, 'utf8'), readFileSync(file, 'utf8'))
  const cases = [byItself, inARow].flatMap((timing) =>
    compared.flatMap((by) =>
      collectives.flatMap((collective) =>
        sizes.map(
          (bytes): Case => ({
            case: `${collective} of ${bytesText(bytes)} ${timing.name}, ${where}, by ${by.name}`,
            unit: 'us',
            ours: by.name,
            key: timing.keyOf(collective, bytes),
            baselines: [untuned.name],
            ...(timing === byItself && by !== again ? { intervalLimit } : {}),
            details: {
              ...{ by: by.name, timing: timing.name, collective, sizeBytes: bytes },
              ...(timing === byItself && by !== again
                ? choices({ collective, ...spreads.at(-1)!, bytes })
                : {}),
            },
          }),
        ),
      ),
    ),
  )
  const figures: Figure[] = []
  const suite = { name, implementations: [untuned, ...compared], cases, runs: side.runs }
  for await (const figure of figuresOf([suite], options)) {
    figures.push(figure)
    yield figure
  }
  for (const by of compared) {
    const of = (timing: Timing) =>
      figures.filter((figure) => figure['by'] === by.name && figure['timing'] === timing.name)
    const place = `${where}, by ${by.name}`
    yield geometricMeanFigure(`${place}, ${byItself.name}`, of(byItself), by === again ? null : geometricMean)
    yield geometricMeanFigure(`${place}, ${inARow.name}`, of(inARow), null)
    yield* lossFigures(place, of(byItself))
    // Both sides send the same messages: what differs is chance, and the look-up of each call.
    const equal = of(byItself).filter((figure) => figure['isDefault'] === true)
    const left = `${place}, ${byItself.name}, left to the rule`
    if (equal.length > 0) yield* [geometricMeanFigure(left, equal, null), ...lossFigures(left, equal)]
  }
}

/** Every call in a world of 4 processes, as `bench/programs/calls.ts` times it. */
const callCases = (sizes: readonly number[]) =>
  collectives.flatMap((call) =>
    sizes.map(
      (bytes, i): CallCase => ({
        ...{ key: inARow.keyOf(call, bytes), call, bytes },
        // The first call of a collective compiles the code of all.
        ...{ warmUp: 2000, warmUpMs: i === 0 ? 1000 : 100, iterations: 100, batches: 31 },
        isolated: { key: byItself.keyOf(call, bytes), repetitions: 256, budgetMs: 150 },
      }),
    ),
  )

/** This library's collectives in 4 processes. @param measure runs `rankweave measure` there */
function onFabric(
  { folder, name }: Place,
  where: string,
  on: (name: string) => Implementation,
  measure: (words: readonly string[]) => Promise<unknown>,
): Side {
  const [data, file] = ['jsonl', 'json'].map((ending) => join(folder, `${name}.${ending}`))
  return {
    ...{ where, data, file },
    spreads: [2, 3, 4].map((processesPerNode) => ({ nodes: 1, processesPerNode })),
    // The order of a reduction that asks for none.
    measure: async (words) =>
      (await measure(['measure', ...collectives, '--order', 'tree', ...words])) as Measured,
    outputs: [],
    untuned: on('default'),
    tuned: [withEnvironment(on('tuning file'), 'RANKWEAVE_TUNING', file)],
    ...{ geometricMean: 0.95, runs: 7 },
  }
}

const ownWorld = ({ sizes }: Place) => ({
  ...{ program: 'calls', ranks: 4, processes: 4 },
  args: callCases(sizes),
})

function onThreads(place: Place): Side {
  const { built } = place
  const fabric = ['--fabric', 'threads', '--processes', '4']
  return onFabric(
    place,
    '4 threads',
    (name) => built.onThreads(name, ownWorld(place), limitSeconds),
    (words) => built.command([...words, ...fabric], measuringSeconds),
  )
}

function onOpenMpi(place: Place): Side {
  const { built } = place
  return onFabric(
    place,
    '4 processes of Open MPI',
    (name) => built.onMpi(name, 'Open MPI', ownWorld(place), limitSeconds),
    (words) => {
      const command = built.commandLine([...words, '--fabric', 'mpi'])
      return built.inCommand('measuring', 'Open MPI', 4, command, measuringSeconds).run()
    },
  )
}

/** The library's own algorithms, between processes of which four share a node. */
function onNodes({ built, folder, sizes }: Place): Side {
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
    ...{ data, file },
    spreads: [
      { nodes: 2, processesPerNode: 2 },
      { nodes: 2, processesPerNode: 4 },
      { nodes: 4, processesPerNode: 4 },
    ],
    async measure(given) {
      const words = ['--source', 'mpi', '--launch', launchVariable, '--mpicc', 'mpicc.openmpi']
      const command = built.commandLine(['measure', ...collectives, ...words, ...given])
      // The shell knows how programs are started there only once the nodes are up.
      const quoted = command.map((word) => (word === launchVariable ? `"${word}"` : `'${word}'`))
      const shell = ['16', 'sh', '-c', quoted.join(' ')]
      return (await runWithTimeout(fourNodes, shell, measuringSeconds)) as unknown as Measured
    },
    // The program is `calls`: reductions by MPI_SUM, and equal arguments on all ranks. Rules have knomial of radix 4 only.
    outputs: [
      ...['--ompi-rules', rules, '--per-node', '4', '--assume', 'commutative,equal-arguments'],
      ...['--without', 'knomial:radix=2', 'knomial:radix=8'],
    ],
    untuned: run('default', []),
    tuned: [
      run('rules', [...dynamic, '--mca', 'coll_tuned_dynamic_rules_filename', rules]),
      run('preloaded library', [
        ...['-x', `LD_PRELOAD=${built.preloaded('Open MPI')}`],
        ...['-x', `RANKWEAVE_SHIM=tune:${file}`],
      ]),
    ],
    ...{ geometricMean: 0.9, runs: 5 },
  }
}

const ownSizes = [8, 32, 128, 512, 2048, 8192, 2 ** 15, 2 ** 17, 2 ** 19, 2 ** 20]
const nodeSizes = [8, 128, 1024, 8192, 2 ** 15, 2 ** 17, 2 ** 19]

/** Sizes and budgets are such that the first two take about 10 minutes each, the third about 20. */
const sides = {
  threads: { sideOf: onThreads, sizes: ownSizes, budgetMs: 200 },
  openmpi: { sideOf: onOpenMpi, sizes: ownSizes, budgetMs: 200 },
  nodes: { sideOf: onNodes, sizes: nodeSizes, budgetMs: 150 },
}
const quickBudgetMs = 50

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
