import { quantile } from '../base/search.js'
import {
  type Calibration,
  type MeasuredFigure,
  type MeasuredMessages,
  messageCosts,
} from '../calibrate/calibrate.js'
import { RankweaveError } from '../errors.js'
import type { MeasuringJob } from './measuring-job.js'

/** The costs of messages of an MPI library as C programs see them. `low` and `high` are those of both halves. */
export interface LibraryCalibration extends Calibration {
  /** The bytes of the longest message that is sent before its receiver is ready; Infinity if none waits. */
  readonly eagerLimitBytes: number
  /** The greatest part by which a measured time of one half of the rounds exceeds that of the other. */
  readonly spread: number
}

interface CalibrationTime {
  /** The time after which rounds end although their halves differ, for each pair of processes, and for the memory. */
  readonly mostMs: number
  readonly nowMs: () => number
}

/**
 * Measures the messages of a job's MPI library between process 0 and the next process of its node, and between process 0
 * and a process of another node, as {@link calibrate} measures those of a fabric; the memory is that of process 0.
 *
 * Other work on the machine only adds time, and often for longer than a round of short runs. So a figure is the lower
 * quartile of the runs of many rounds, which end when the first half of them gives the same figures as the second.
 *
 * @throws ERR_MEASUREMENT when the job fails or answers something else
 */
export async function calibrateLibrary(
  job: MeasuringJob,
  time: CalibrationTime = { mostMs: 4000, nowMs: () => performance.now() },
): Promise<LibraryCalibration> {
  const near = job.nodes.findIndex((node, process) => process > 0 && node === job.nodes[0])
  const far = job.nodes.findIndex((node) => node !== job.nodes[0])
  const measured = async (process: number) =>
    process < 0 ? null : await steadyParts(job, `messages ${process}`, messageResolutions, time)
  const [node, network] = [await measured(near), await measured(far)]
  const memory = await steadyParts(job, 'memory', memoryResolutions, time)
  const limit = await figuresOf(job, `eager ${far < 0 ? near : far}`, 1)
  const of = (cost: (part: readonly number[]) => number) => figureOfParts(memory.parts.map(cost))
  return {
    runs: memory.rounds * runsOfRound,
    node: node && costsOf(node),
    network: network && costsOf(network),
    nodeTables: null,
    networkTables: null,
    copyBlockNs: of(([block, byte]) => Math.max(0, block - 8 * byte)),
    copyNsPerByte: of(([, byte]) => Math.max(0, byte)),
    reduceNsPerByte: of(([, , sum]) => Math.max(0, sum)),
    eagerLimitBytes: limit[0] < 0 ? Number.POSITIVE_INFINITY : limit[0],
    spread: Math.max(...[node, network, memory].map((each) => each?.spread ?? 0)),
  }
}

/** The part by which the figures of both halves of the rounds may differ. */
export const steadySpread = 0.2

const runsOfRound = 16
const leastRounds = 6

/** Differences that do not count, nanoseconds: of a message, a byte more, one of many, the parts of sender and receiver. */
const messageResolutions = [10, 0.01, 10, 10, 10] as const
/** Those of a block that is copied, a byte more, a byte of a sum. */
const memoryResolutions = [0.2, 0.01, 0.01] as const

/** The lower quartiles of all rounds, of the first half and of the second half, each with every figure. */
interface SteadyParts {
  readonly parts: readonly (readonly number[])[]
  readonly rounds: number
  readonly spread: number
}

/** Repeats an order until both halves of its answers agree, or the time is over. */
async function steadyParts(
  job: MeasuringJob,
  order: string,
  resolutions: readonly number[],
  { mostMs, nowMs }: CalibrationTime,
): Promise<SteadyParts> {
  const rounds: (readonly number[])[] = []
  const count = resolutions.length
  const begin = nowMs()
  for (;;) {
    rounds.push(await figuresOf(job, `${order} ${runsOfRound}`, count * runsOfRound))
    if (rounds.length < leastRounds || rounds.length % 2 === 1) continue
    const middle = rounds.length / 2
    const parts = [rounds, rounds.slice(0, middle), rounds.slice(middle)].map((some) =>
      quartiles(some, count),
    )
    const spread = Math.max(...resolutions.map((least, i) => spreadOf(parts[1][i], parts[2][i], least)))
    if (spread <= steadySpread || nowMs() - begin >= mostMs) return { parts, rounds: rounds.length, spread }
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

function spreadOf(first: number, second: number, least: number): number {
  const [low, high] = [Math.min(first, second), Math.max(first, second)]
  return high - low <= least ? 0 : (high - low) / Math.max(low, least)
}

function costsOf({ parts }: SteadyParts): MeasuredMessages {
  const costs = parts.map(([hop, perByte, stream, sendOverhead, receiveOverhead]) =>
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
    gapNs: of('gapNs'),
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
