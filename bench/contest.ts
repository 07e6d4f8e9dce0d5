import { cpus } from 'node:os'
import { type BenchOptions, type Figure, median } from './bench.js'
import type { Figures } from './bounded.js'

/** One way to answer: a run of ours or of a peer. */
export interface Contestant {
  readonly name: string
  /** What was run, for the report. */
  readonly how: string
  /** Takes part in one of so many rounds only, where a run costs a lot. */
  readonly every?: number
  run(): Promise<Figures>
}

/** What was promised: of the ratio ours / peer, or of our own figure. */
export interface Target {
  readonly of: 'ratio' | 'ours'
  readonly is: 'at most' | 'at least'
  readonly value: number
}

export const ratioAtMost = (value: number): Target => ({ of: 'ratio', is: 'at most', value })
export const ratioAtLeast = (value: number): Target => ({ of: 'ratio', is: 'at least', value })
export const oursAtMost = (value: number): Target => ({ of: 'ours', is: 'at most', value })
/** As a ratio of times. */
export const timesFaster = (times: number): Target => ratioAtMost(1 / times)

/** One line of the report, out of the figures of a suite. */
export interface Case {
  readonly case: string
  readonly unit: string
  /** Which contestant is ours, and by what key it calls the figure. */
  readonly ours: string
  readonly key: string
  /** Who else has it, by the same key unless `peerKey`: the best counts. */
  readonly peers?: readonly string[]
  readonly peerKey?: string
  /** From what was measured to the unit. */
  readonly convert?: (measured: number) => number
  readonly largerIsBetter?: boolean
  readonly target?: Target
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

/** Contestants that take turns, and what to report of them. */
export interface Suite {
  readonly name: string
  readonly contestants: readonly Contestant[]
  readonly cases: readonly Case[]
}

interface Tally {
  readonly contestant: Contestant
  readonly figures: Figures[]
  /** Cores that others kept busy just before each run. */
  readonly disturbance: number[]
  failures: number
  reason: string
}

/** All contestants in turn, again and again, each time beginning with the next. Two failures end one's part. */
export async function compete({ contestants }: Suite, runs: number): Promise<ReadonlyMap<string, Tally>> {
  const tallies = contestants.map(
    (contestant): Tally => ({
      contestant,
      figures: [],
      disturbance: [],
      failures: 0,
      reason: '',
    }),
  )
  for (let run = 0; run < runs; run++) {
    for (let turn = 0; turn < tallies.length; turn++) {
      const tally = tallies[(run + turn) % tallies.length]
      if (tally.failures >= 2 || run % (tally.contestant.every ?? 1) !== 0) continue
      tally.disturbance.push(await quietMoment())
      try {
        tally.figures.push(await tally.contestant.run())
      } catch (error) {
        tally.failures++
        tally.reason = error instanceof Error ? error.message : String(error)
      }
    }
  }
  return new Map(tallies.map((tally) => [tally.contestant.name, tally]))
}

export function figureOf(entry: Case, tallies: ReadonlyMap<string, Tally>): Figure {
  const { unit, key, peerKey = key, convert = (x) => x, largerIsBetter = false, target, peers = [] } = entry
  const sideOf = (name: string, itsKey: string) => {
    const tally = tallies.get(name)!
    const samples = tally.figures.map((figures) => convert(figures[itsKey])).filter(Number.isFinite)
    return { tally, samples, median: samples.length === 0 ? null : median(samples) }
  }
  const better = (a: number, b: number) => (largerIsBetter ? a > b : a < b)
  const ours = sideOf(entry.ours, key)
  const rivals = peers.map((name) => sideOf(name, peerKey))
  const measured = rivals.filter((rival) => rival.median !== null)
  const peer = measured.reduce<(typeof measured)[number] | undefined>(
    (best, rival) => (best === undefined || better(rival.median!, best.median!) ? rival : best),
    undefined,
  )
  const bestOf = (samples: readonly number[]) =>
    samples.length === 0 ? null : samples.reduce((best, sample) => (better(sample, best) ? sample : best))
  const ratio = ours.median === null || peer === undefined ? null : ours.median / peer.median!
  const judged = target?.of === 'ours' ? ours.median : ratio
  const met =
    target === undefined
      ? null
      : judged !== null && (target.is === 'at most' ? judged <= target.value : judged >= target.value)
  const failed = [ours, ...rivals]
    .filter(({ tally }) => tally.failures > 0)
    .map(({ tally }) => `${tally.contestant.name}: ${tally.failures} failed, ${tally.reason}`)
  return {
    case: entry.case,
    unit,
    ours: ours.median,
    peer: peer?.median ?? null,
    ratio,
    target: target?.value ?? null,
    targetOf: target?.of ?? null,
    targetIs: target?.is ?? null,
    met,
    runs: ours.samples.length,
    peerRuns: peer?.samples.length ?? null,
    oursBest: bestOf(ours.samples),
    peerBest: peer === undefined ? null : bestOf(peer.samples),
    oursHow: ours.tally.contestant.how,
    peerHow: (peer ?? rivals[0])?.tally.contestant.how ?? null,
    failed: failed.length === 0 ? null : failed.join('; '),
    coresBusyBefore: Math.round(median(ours.tally.disturbance) * 100) / 100,
    ...entry.details,
  }
}

/** A core that is busy by less than this disturbs nobody. */
const quietCores = 0.3
const mostTries = 20

/** Waits until nobody else uses the machine, but not for ever; how many cores are busy then. */
async function quietMoment(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const busy = await busyCores()
    if (busy < quietCores || tries === mostTries) return busy
  }
}

/** How many cores are busy while we do nothing: with most of them taken, figures say little. */
async function busyCores(): Promise<number> {
  const before = busyMs()
  const begin = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 200))
  return Math.max(0, (busyMs() - before) / (performance.now() - begin))
}

function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}

/** Suite after suite, figure after figure, as they are measured. */
export async function* figuresOf(
  suites: readonly Suite[],
  { quick = false, only = '' }: BenchOptions,
): AsyncGenerator<Figure> {
  for (const suite of suites) {
    if (!suite.name.startsWith(only)) continue
    const tallies = await compete(suite, quick ? quickRuns : fullRuns)
    for (const entry of suite.cases) yield { ...figureOf(entry, tallies), quick }
  }
}

const fullRuns = 9
const quickRuns = 3
