import { cpus } from 'node:os'
import { quantile } from '../../base/search.js'
import { RankweaveError } from '../../errors.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import { dimsCreate } from '../../topology/generate/cartesian.js'
import { openInputOn } from '../input/open-input.js'
import { addOptions, json, option, readOptions, whole } from '../input/options.js'
import { specHelp } from '../input/spec-help.js'
import { fabricOf, reportOf, tuningOf, tuningOption, worldOptions } from '../input/world-options.js'
import { counted, significant } from '../output/figure-text.js'
import { type Reporter, readProgress } from '../output/reporter.js'
import { columns } from '../output/result-rows.js'
import type { BenchFigure, BenchOperation } from '../program/bench-program.js'
import main from '../program/bench-program.js'
import { runOwnProgram } from '../program/run-own-program.js'
import type { AddCommand } from './command.js'

const help = `${specHelp}

ping-pong            a message from rank 0 to the last rank and back: half a round trip, and bandwidth one way
allreduce            the sum of 8 bytes of every rank, on all ranks
neighbor allgather   8 bytes from every neighbor of the topology, planned by direct and by common-neighbor (k=2)

Results are checked, then every operation warms up, then it is timed by the clock of rank 0 over runs of about 0.1 s.
Median, min and max are over the runs.

Examples:
  rankweave bench -n 2 --fabric threads --processes 2
  rankweave bench -n 64 --fabric threads --processes 2 --topology moore:8x8:r=2
  mpirun -n 4 rankweave bench -n 4 --fabric mpi --runs 9 --json`

const optionTable = {
  ...worldOptions,
  ...tuningOption,
  runs: option('--runs <number>', 'runs of every operation', whole(1, 999), '5'),
  topology: option(
    '--topology <spec>',
    'the topology of the neighbor allgathers (default: a Moore grid of all ranks, radius 2)',
  ),
  json,
}

/** The approximate time of one run of one operation. */
const runMs = 100

export const benchCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = readOptions(optionTable, raw)
        const { ranks, runs } = options
        const spec = options.topology ?? `moore:${dimsCreate(ranks, 2).join('x')}:r=2`
        const fabric = fabricOf(options)
        const open = openInputOn(fabric)
        const topology = buildTopology(spec, { open, onProgress: readProgress(report, spec) })
        if (topology.ranks !== ranks) {
          const message = `--topology: expected a topology of ${ranks} ranks, got one of ${topology.ranks}`
          throw new RankweaveError('ERR_USAGE', message)
        }
        const tuning = await tuningOf(options, fabric.kind)
        report.step(`measuring ${runs} runs of every operation`)
        const args = { runs, runMs, topology }
        const world = { ranks, fabric, args, tuning, report: reportOf(options) }
        const results = await runOwnProgram('bench-program', main, world)
        const figures = results?.[0]
        if (figures === undefined || figures === null) return
        const { processes, kind } = fabric
        const outcome = benchOutcome(figures, { ranks, processes, fabric: kind, topology: spec, runs })
        report.result(outcome, benchText(outcome))
      }),
    )
}

/** The median, the least and the most over the runs. */
interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The JSON object of `rankweave bench --json`. */
interface BenchOutcome {
  readonly ranks: number
  readonly processes: number
  readonly fabric: string
  readonly node: string
  readonly cpu: string
  readonly topology: string
  readonly runs: number
  readonly results: readonly {
    readonly operation: BenchOperation
    readonly bytes: number
    readonly iterations: number
    readonly microseconds: Spread
    /** The bandwidth of a ping-pong, one way. */
    readonly gigabytesPerSecond: Spread | null
  }[]
}

function benchOutcome(
  figures: readonly BenchFigure[],
  world: Pick<BenchOutcome, 'ranks' | 'processes' | 'fabric' | 'topology' | 'runs'>,
): BenchOutcome {
  const cores = cpus()
  return {
    ranks: world.ranks,
    processes: world.processes,
    fabric: world.fabric,
    node: process.version,
    cpu: `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown'}`,
    topology: world.topology,
    runs: world.runs,
    results: figures.map(({ operation, bytes, iterations, microseconds }) => ({
      operation,
      bytes,
      iterations,
      microseconds: spreadOf(microseconds),
      gigabytesPerSecond:
        operation === 'ping-pong' ? spreadOf(microseconds.map((us) => bytes / us / 1000)) : null,
    })),
  }
}

function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), min: sorted[0], max: sorted[sorted.length - 1] }
}

function benchText(outcome: BenchOutcome): string {
  const { ranks, processes, fabric, runs } = outcome
  const rows = outcome.results.flatMap(({ operation, bytes, microseconds, gigabytesPerSecond }) => {
    const isPingPong = gigabytesPerSecond !== null
    const name = isPingPong ? 'ping-pong, half round trip' : operation
    const time = { name, bytes, spread: microseconds, unit: 'us' }
    if (!isPingPong || bytes <= 1024) return [time]
    return [time, { name: 'ping-pong, bandwidth', bytes, spread: gigabytesPerSecond, unit: 'GB/s' }]
  })
  const where = `${counted(ranks, 'rank', 'ranks')}, ${counted(processes, 'process', 'processes')}, ${fabric} fabric`
  return [
    `${where}, ${counted(runs, 'run', 'runs')}; neighbors of ${outcome.topology}`,
    `Node ${outcome.node}, ${outcome.cpu}`,
    '',
    columns(rows, [
      ['operation', ({ name }) => name],
      ['bytes', ({ bytes }) => bytesText(bytes)],
      ['median', ({ spread, unit }) => `${significant(spread.median)} ${unit}`],
      ['min', ({ spread, unit }) => `${significant(spread.min)} ${unit}`],
      ['max', ({ spread, unit }) => `${significant(spread.max)} ${unit}`],
    ]),
  ].join('\n')
}

function bytesText(bytes: number): string {
  return bytes === 2 ** 20 ? '1 MiB' : `${bytes} B`
}
