import { medianOf, quantile } from '../base/search.js'
import {
  type Calibration,
  type MeasuredFigure,
  type MeasuredMessages,
  messageCosts,
} from '../calibrate/calibrate.js'
import { RankweaveError } from '../errors.js'
import type { MeasuringJob } from './measuring-job.js'

/** The costs of messages of an MPI library as C programs see them. `low` and `high` are the least and greatest of all jobs. */
export interface LibraryCalibration extends Calibration {
  /** The name of the library. */
  readonly library: string
  /** The bytes of the longest message that is sent before its receiver is ready; Infinity if none waits. */
  readonly eagerLimitBytes: number
  /** The greatest range of a time over all jobs, as a part of its mean. */
  readonly spread: number
}

interface CalibrationTime {
  /** The time after which rounds of a job end although their halves differ, for each pair of processes, and for memory. */
  readonly mostMs: number
  readonly nowMs: () => number
}

/**
 * Measures the messages of an MPI library between process 0 and the next process of its node, and between process 0 and a
 * process of another node, as {@link calibrate} measures those of a fabric; the memory is that of process 0.
 *
 * Other work on the machine only adds time, and often for longer than a round of short runs. So a job's figure is the lower
 * quartile of the runs of many rounds, which end when the first half of them gives the same figures as the second. Where
 * the system has put the processes lasts as long as a job, so a figure is the median of several jobs.
 *
 * @param start starts a job, which this function ends
 * @throws ERR_MEASUREMENT when a job fails or answers something else
 */
export async function calibrateLibrary(
  start: () => Promise<MeasuringJob>,
  time: CalibrationTime = { mostMs: 1000, nowMs: () => performance.now() },
): Promise<LibraryCalibration> {
  const jobs: JobFigures[] = []
  let eagerLimitBytes = Number.POSITIVE_INFINITY
  let spread = 0
  while (jobs.length < fewJobs || (jobs.length < mostJobs && spread > steadySpread)) {
    const job = await start()
    try {
      jobs.push(await jobFigures(job, time))
      if (jobs.length === 1) eagerLimitBytes = await eagerLimitOf(job)
      await job.end()
    } finally {
      await job.stop()
    }
    spread = Math.max(
      spreadOf(
        jobs.map(({ node }) => node),
        messageResolutions,
      ),
      spreadOf(
        jobs.map(({ network }) => network),
        messageResolutions,
      ),
      spreadOf(
        jobs.map(({ memory }) => memory),
        memoryResolutions,
      ),
    )
  }
  const [{ library }] = jobs
  const memory = withMedians(jobs.map(({ memory }) => memory))
  const of = (cost: (figures: readonly number[]) => number) => figureOfParts(memory.map(cost))
  return {
    runs: jobs.reduce((sum, { rounds }) => sum + rounds * runsOfRound, 0),
    node: costsOf(jobs.map(({ node }) => node)),
    network: costsOf(jobs.map(({ network }) => network)),
    nodeTables: null,
    networkTables: null,
    copyBlockNs: of(([block, byte]) => Math.max(0, block - 8 * byte)),
    copyNsPerByte: of(([, byte]) => Math.max(0, byte)),
    reduceNsPerByte: of(([, , sum]) => Math.max(0, sum)),
    ...{ library, eagerLimitBytes, spread },
  }
}

/** The part by which figures of rounds, and of jobs, may differ. */
export const steadySpread = 0.2

const runsOfRound = 16
const leastRounds = 6
/** The jobs that are started; below, where these differ. */
const fewJobs = 3
const mostJobs = 5

/** Differences that do not count, nanoseconds: of a message, a byte more, one of many, the parts of sender and receiver. */
const messageResolutions = [4, 0.004, 4, 4, 4] as const
/** The same for memory: a block that is copied, a byte more, a byte of a sum. */
const memoryResolutions = [0.2, 0.004, 0.004] as const

/** The figures of one job; null for a pair of processes that it lacks. */
interface JobFigures {
  readonly library: string
  readonly node: readonly number[] | null
  readonly network: readonly number[] | null
  readonly memory: readonly number[]
  readonly rounds: number
}

async function jobFigures(job: MeasuringJob, time: CalibrationTime): Promise<JobFigures> {
  const { near, far } = othersOf(job)
  const measured = async (process: number) =>
    process < 0 ? null : await steadyFigures(job, `messages ${process}`, messageResolutions, time)
  const [node, network] = [await measured(near), await measured(far)]
  const memory = await steadyFigures(job, 'memory', memoryResolutions, time)
  return {
    library: job.library,
    node: node?.figures ?? null,
    network: network?.figures ?? null,
    memory: memory.figures,
    rounds: memory.rounds,
  }
}

async function eagerLimitOf(job: MeasuringJob): Promise<number> {
  const { near, far } = othersOf(job)
  const [limit] = await figuresOf(job, `eager ${far < 0 ? near : far}`, 1)
  return limit < 0 ? Number.POSITIVE_INFINITY : limit
}

/** Returns the next process on the node of process 0, and one of another node; -1: there is none. */
function othersOf({ nodes }: MeasuringJob): { readonly near: number; readonly far: number } {
  return {
    near: nodes.findIndex((node, process) => process > 0 && node === nodes[0]),
    far: nodes.findIndex((node) => node !== nodes[0]),
  }
}

/** Repeats an order until both halves of its answers agree, or the time is over. */
async function steadyFigures(
  job: MeasuringJob,
  order: string,
  resolutions: readonly number[],
  { mostMs, nowMs }: CalibrationTime,
): Promise<{ readonly figures: readonly number[]; readonly rounds: number }> {
  const rounds: (readonly number[])[] = []
  const count = resolutions.length
  const begin = nowMs()
  for (;;) {
    rounds.push(await figuresOf(job, `${order} ${runsOfRound}`, count * runsOfRound))
    if (rounds.length < leastRounds || rounds.length % 2 === 1) continue
    const middle = rounds.length / 2
    const halves = [rounds.slice(0, middle), rounds.slice(middle)].map((some) => quartiles(some, count))
    if (spreadOf(halves, resolutions) <= steadySpread || nowMs() - begin >= mostMs)
      return { figures: quartiles(rounds, count), rounds: rounds.length }
  }
}

/** Returns the lower quartile of every figure of rounds, each of which has the figures of run after run. */
function quartiles(rounds: readonly (readonly number[])[], count: number): readonly number[] {
  return Array.from({ length: count }, (_, figure) => {
    const values = rounds.flatMap((round) => round.filter((_, i) => i % count === figure))
    return quantile(
      values.toSorted((a, b) => a - b),
      0.25,
    )
  })
}

/** Returns the greatest range of a figure in several measurements, as a part of its mean. */
function spreadOf(all: readonly (readonly number[] | null)[], resolutions: readonly number[]): number {
  const measured = all.filter((figures) => figures !== null)
  const spreads = resolutions.map((least, i) => {
    const values = measured.map((figures) => figures[i])
    const range = Math.max(...values) - Math.min(...values)
    // Figures are differences of times, so noise may make one negative, or nearly 0.
    const mean = values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length
    return range <= least ? 0 : range / Math.max(mean, least)
  })
  return measured.length === 0 ? 0 : Math.max(...spreads)
}

/** Returns the median of every figure, then the figures of each job. */
function withMedians(jobs: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const medians = jobs[0].map((_, i) => medianOf(jobs.map((figures) => figures[i])))
  return [medians, ...jobs]
}

function costsOf(jobs: readonly (readonly number[] | null)[]): MeasuredMessages | null {
  const measured = jobs.filter((figures) => figures !== null)
  if (measured.length === 0) return null
  const costs = withMedians(measured).map(([hop, perByte, stream, sendOverhead, receiveOverhead]) =>
    messageCosts({
      ...{ hop: [hop], perByte: [perByte], stream: [stream] },
      ...{ sendOverhead: [sendOverhead], receiveOverhead: [receiveOverhead] },
    }),
  )
  const of = (key: keyof MeasuredMessages) => figureOfParts(costs.map((each) => each[key].median))
  return {
    latencyNs: of('latencyNs'),
    sendOverheadNs: of('sendOverheadNs'),
    receiveOverheadNs: of('receiveOverheadNs'),
    // A gap that an overhead hides is 0, maybe in one job only.
    gapNs: costs.every(({ gapNs }) => gapNs.median > 0) ? of('gapNs') : costs[0].gapNs,
    nsPerByte: of('nsPerByte'),
  }
}

function figureOfParts(parts: readonly number[]): MeasuredFigure {
  return { median: parts[0], low: Math.min(...parts), high: Math.max(...parts) }
}

/** Returns the numbers of an answer, which begins with the word of its order. */
async function figuresOf(job: MeasuringJob, order: string, count: number): Promise<readonly number[]> {
  const [kind] = order.split(' ')
  const [answered, ...words] = (await job.ask(order)).trim().split(' ')
  const figures = words.map(Number)
  if (answered === kind && figures.length === count && figures.every(Number.isFinite)) return figures
  const got = `'${[answered, ...words].join(' ').slice(0, 80)}'`
  throw new RankweaveError('ERR_MEASUREMENT', `${order}: expected ${count} figures from the job, got ${got}`)
}
