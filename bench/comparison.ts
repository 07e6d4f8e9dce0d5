import { cpus } from 'node:os'
import { type BenchOptions, type Figure, median } from './bench.js'
import { medianInterval, ratioInterval } from './compare/interval.mjs'
import type { Figures } from './run-with-timeout.js'

/** One side of a comparison: ours or a baseline. */
export interface Implementation {
  readonly name: string
  /** Command and versions, for the report. */
  readonly how: string
  /** Takes part in one of this many rounds, where a run is expensive. */
  readonly every?: number
  run(): Promise<Figures>
}

/** A target for the ratio ours / baseline, or for our own figure. */
export interface Target {
  readonly of: 'ratio' | 'ours'
  readonly is: 'at most' | 'at least'
  readonly value: number
}

export const ratioAtMost = (value: number): Target => ({ of: 'ratio', is: 'at most', value })
export const ratioAtLeast = (value: number): Target => ({ of: 'ratio', is: 'at least', value })
export const oursAtMost = (value: number): Target => ({ of: 'ours', is: 'at most', value })
/** The target as a ratio of times. */
export const timesFaster = (times: number): Target => ratioAtMost(1 / times)

/** One line of the report, from the figures of a suite. */
export interface Case {
  readonly case: string
  readonly unit: string
  /** Which implementation is ours, and the key of the figure in its output. */
  readonly ours: string
  readonly key: string
  /** Baselines with the same key unless `baselineKey`: the best one counts. */
  readonly baselines?: readonly string[]
  readonly baselineKey?: string
  /** Converts the measured value to the unit. */
  readonly convert?: (measured: number) => number
  readonly largerIsBetter?: boolean
  readonly target?: Target
  /** Met as well if our figure is at least this share of another figure of ours, where larger is better. */
  readonly orShareOf?: { readonly key: string; readonly value: number }
  /** Met unless the whole 95% interval of the ratio ours / baseline lies above this. */
  readonly intervalLimit?: number
  /**
   * Whether ours and the baseline are figures of the same runs: then the ratio is the median of theirs, and its
   * 95% interval is reported.
   */
  readonly isPaired?: true
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

/** Implementations that take turns, and the figures to report. */
export interface Suite {
  readonly name: string
  readonly implementations: readonly Implementation[]
  readonly cases: readonly Case[]
  /** Rounds, if not the usual number. */
  readonly runs?: number
}

interface Tally {
  readonly implementation: Implementation
  readonly figures: Figures[]
  /** Cores that other programs kept busy just before each run. */
  readonly disturbance: number[]
  failures: number
  reason: string
}

/**
 * Runs all implementations in turn; every round begins with the next one. After two failures one no longer
 * takes part.
 */
export async function compare(
  { name, implementations }: Suite,
  runs: number,
): Promise<ReadonlyMap<string, Tally>> {
  const tallies = implementations.map(
    (implementation): Tally => ({
      implementation,
      figures: [],
      disturbance: [],
      failures: 0,
      reason: '',
    }),
  )
  for (let run = 0; run < runs; run++) {
    // Figures are printed when all rounds of a suite are done.
    console.error(`${name}: round ${run + 1} of ${runs}`)
    for (let turn = 0; turn < tallies.length; turn++) {
      const tally = tallies[(run + turn) % tallies.length]
      if (tally.failures >= 2 || run % (tally.implementation.every ?? 1) !== 0) continue
      tally.disturbance.push(await quietMoment())
      try {
        tally.figures.push(await tally.implementation.run())
      } catch (error) {
        tally.failures++
        tally.reason = error instanceof Error ? error.message : String(error)
      }
    }
  }
  return new Map(tallies.map((tally) => [tally.implementation.name, tally]))
}

export function figureOf(entry: Case, tallies: ReadonlyMap<string, Tally>): Figure {
  const {
    unit,
    key,
    baselineKey = key,
    convert = (x) => x,
    largerIsBetter = false,
    target,
    baselines = [],
  } = entry
  const sideOf = (name: string, itsKey: string) => {
    const tally = tallies.get(name)!
    const samples = tally.figures.map((figures) => convert(figures[itsKey])).filter(Number.isFinite)
    return { tally, samples, median: samples.length === 0 ? null : median(samples) }
  }
  const better = (a: number, b: number) => (largerIsBetter ? a > b : a < b)
  const ours = sideOf(entry.ours, key)
  const others = baselines.map((name) => sideOf(name, baselineKey))
  const measured = others.filter((other) => other.median !== null)
  const peer = measured.reduce<(typeof measured)[number] | undefined>(
    (best, other) => (best === undefined || better(other.median!, best.median!) ? other : best),
    undefined,
  )
  const bestOf = (samples: readonly number[]) =>
    samples.length === 0 ? null : samples.reduce((best, sample) => (better(sample, best) ? sample : best))
  const paired =
    entry.isPaired === true && peer !== undefined
      ? ours.samples.map((sample, run) => sample / peer.samples[run])
      : null
  const ratio =
    ours.median === null || peer === undefined
      ? null
      : paired === null
        ? ours.median / peer.median!
        : median(paired)
  const judged = target?.of === 'ours' ? ours.median : ratio
  const intervalOf = () => {
    if (peer === undefined || ours.samples.length === 0) return null
    if (paired !== null) return medianInterval(paired)
    return entry.intervalLimit === undefined ? null : ratioInterval(peer.samples, ours.samples)
  }
  const interval = intervalOf()
  const other = entry.orShareOf === undefined ? null : sideOf(entry.ours, entry.orShareOf.key).median
  const share = ours.median === null || other === null ? null : ours.median / other
  const isMet = () => {
    if (entry.intervalLimit !== undefined) return interval !== null && interval[0] <= entry.intervalLimit
    if (target === undefined) return null
    if (share !== null && share >= entry.orShareOf!.value) return true
    return judged !== null && (target.is === 'at most' ? judged <= target.value : judged >= target.value)
  }
  const failed = [ours, ...others]
    .filter(({ tally }) => tally.failures > 0)
    .map(({ tally }) => `${tally.implementation.name}: ${tally.failures} failed, ${tally.reason}`)
  return {
    case: entry.case,
    unit,
    ours: ours.median,
    peer: peer?.median ?? null,
    ratio,
    target: target?.value ?? entry.intervalLimit ?? null,
    targetOf: target?.of ?? (entry.intervalLimit === undefined ? null : '95% interval of ratio'),
    targetIs: target?.is ?? null,
    met: isMet(),
    runs: ours.samples.length,
    peerRuns: peer?.samples.length ?? null,
    oursBest: bestOf(ours.samples),
    peerBest: peer === undefined ? null : bestOf(peer.samples),
    oursHow: ours.tally.implementation.how,
    peerName: others.length > 1 ? (peer?.tally.implementation.name ?? null) : null,
    peerHow: (peer ?? others[0])?.tally.implementation.how ?? null,
    failed: failed.length === 0 ? null : failed.join('; '),
    coresBusyBefore: Math.round(median(ours.tally.disturbance) * 100) / 100,
    ...(interval === null ? {} : { low: interval[0], high: interval[1] }),
    ...(share === null ? {} : { share, shareOf: entry.orShareOf!.key, shareTarget: entry.orShareOf!.value }),
    ...entry.details,
  }
}

/** Fewer busy cores than this do not disturb a measurement. */
const quietCores = 0.3
const mostTries = 20

/**
 * Waits until no other program uses the machine, for a limited time; returns the cores that are busy then.
 */
async function quietMoment(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const busy = await busyCores()
    if (busy < quietCores || tries === mostTries) return busy
  }
}

/** Cores that are busy while this process sleeps: with most of them busy, figures are not meaningful. */
async function busyCores(): Promise<number> {
  const before = busyMs()
  const begin = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 200))
  return Math.max(0, (busyMs() - before) / (performance.now() - begin))
}

function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}

/** The figures of every suite, as they are measured. */
export async function* figuresOf(
  suites: readonly Suite[],
  { quick = false, only = '', runs }: BenchOptions,
): AsyncGenerator<Figure> {
  const given = runs === undefined ? undefined : Number(runs)
  if (given !== undefined && !(Number.isInteger(given) && given >= quickRuns))
    throw new Error(`--runs: expected an integer from ${quickRuns}, got '${runs}'`)
  for (const suite of suites) {
    if (!only.split(',').some((beginning) => suite.name.startsWith(beginning))) continue
    const tallies = await compare(suite, given ?? (quick ? quickRuns : (suite.runs ?? fullRuns)))
    for (const entry of suite.cases) yield { ...figureOf(entry, tallies), quick }
  }
}

const fullRuns = 9
const quickRuns = 3
