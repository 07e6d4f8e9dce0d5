import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

/** One measured figure. Smaller is better unless the unit says otherwise. */
export interface Figure {
  readonly case: string
  readonly unit: string
  /** Median of the runs; null when they failed. */
  readonly ours: number | null
  /** The same of a baseline, and ours / peer; null without a baseline. */
  readonly peer: number | null
  readonly ratio: number | null
  /** An upper bound, unless `targetIs` is 'at least'; null without a target. */
  readonly target: number | null
  readonly met: boolean | null
  readonly runs: number
  readonly [detail: string]: string | number | boolean | null
}

/** How to measure. A bench ignores options that do not apply to it. */
export interface BenchOptions {
  /** Fewer runs: rough figures, quickly. */
  readonly quick?: boolean
  /** Rounds of every suite that compares: an integer from 3, as text. Default: 9, or what the suite says. */
  readonly runs?: string
  /** Only the suites whose names begin with this, or with one of several words that commas separate. */
  readonly only?: string
  /** Only messages of these sizes in bytes, separated by commas. */
  readonly sizes?: string
  /** Of what is drawn at random: an integer from 0, as text. */
  readonly seed?: string
  /** How many are drawn of every suite: an integer from 1, as text. */
  readonly sample?: string
  /** The commit whose library is compared. */
  readonly before?: string
  /** Of mutants: `test` or `soak`, by default `test`. */
  readonly suite?: string
  /** The commit whose tests try mutants; by default HEAD. */
  readonly tests?: string
  /** File for what a run finds, which another run continues. */
  readonly out?: string
  /** Such a file: only the mutants that live in it are tried. */
  readonly living?: string
  /** Two such files, separated by a comma, to compare. */
  readonly compare?: string
  /** Mutants that are tried at the same time: an integer from 1, as text. Default: as many as there are cores. */
  readonly jobs?: string
  /** The time that the tests of a mutant take together without it, at most: an integer, as text. Default: 2. */
  readonly minutes?: string
  /** File for an SVG image of the figures. */
  readonly plot?: string
}

/** One question, answered in figures as they are measured. Results are checked before timing. */
export interface Bench {
  readonly name: string
  readonly question: string
  measure(options?: BenchOptions): AsyncIterable<Figure>
}

/** A figure without a baseline: the median of its samples, compared with the target if there is one. */
export function ownFigure(
  name: string,
  unit: string,
  samples: readonly number[],
  target: number | null,
  details: Readonly<Record<string, string | number | boolean | null>> = {},
): Figure {
  const ours = median(samples)
  const met = target === null ? null : ours <= target
  return { case: name, unit, ours, peer: null, ratio: null, target, met, runs: samples.length, ...details }
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** What recorded results are written to; nothing that is timed reads it. */
const written = ['bench/results', 'docs', 'README.md']

/** Where the figures come from: part of every line. */
export function environment(): { readonly commit: string; readonly node: string; readonly cpu: string } {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  let commit = 'unknown'
  try {
    const changed = git('status', '--porcelain', ':/', ...written.map((path) => `:/!${path}`))
    commit = git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : '+changes')
  } catch {
    // Not a git checkout: the figures are still useful.
  }
  const cores = cpus()
  return { commit, node: process.version, cpu: `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown'}` }
}
