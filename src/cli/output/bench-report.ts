import { cpus } from 'node:os'
import { quantile } from '../../base/search.js'
import type { BenchFigure, BenchOperation } from '../program/bench-program.js'
import { columns, counted, significant } from './reporter.js'

/** The median, the least and the most over the runs. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The JSON object of `rankweave bench --json`. */
export interface BenchOutcome {
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

export function benchOutcome(
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

export function benchText(outcome: BenchOutcome): string {
  const { ranks, processes, fabric, runs } = outcome
  const rows: (readonly string[])[] = [['operation', 'bytes', 'median', 'min', 'max']]
  for (const { operation, bytes, microseconds, gigabytesPerSecond } of outcome.results) {
    const row = (name: string, { median, min, max }: Spread, unit: string) =>
      rows.push([
        name,
        bytesText(bytes),
        ...[median, min, max].map((value) => `${significant(value)} ${unit}`),
      ])
    const isPingPong = gigabytesPerSecond !== null
    row(isPingPong ? 'ping-pong, half round trip' : operation, microseconds, 'us')
    if (isPingPong && bytes > 1024) row('ping-pong, bandwidth', gigabytesPerSecond, 'GB/s')
  }
  const where = `${counted(ranks, 'rank', 'ranks')}, ${counted(processes, 'process', 'processes')}, ${fabric} fabric`
  return [
    `${where}, ${counted(runs, 'run', 'runs')}; neighbors of ${outcome.topology}`,
    `Node ${outcome.node}, ${outcome.cpu}`,
    '',
    columns(rows),
  ].join('\n')
}

function bytesText(bytes: number): string {
  return bytes === 2 ** 20 ? '1 MiB' : `${bytes} B`
}
