import { atLeastZero, type Calibration, type MeasuredMessages, messageCosts } from '../calibrate/calibrate.js'
import { RankweaveError } from '../errors.js'
import type { MeasuringJob } from './measuring-job.js'

/** The costs of messages of an MPI library as C programs see them. */
export interface LibraryCalibration extends Calibration {
  /** The bytes of the longest message that is sent before its receiver is ready; Infinity if none waits. */
  readonly eagerLimitBytes: number
}

/**
 * Measures the messages of a job's MPI library between process 0 and the next process of its node, and between process 0
 * and a process of another node, as {@link calibrate} measures those of a fabric; the memory is that of process 0.
 *
 * @throws ERR_MEASUREMENT when the job fails or answers something else
 */
export async function calibrateLibrary(job: MeasuringJob, runs: number): Promise<LibraryCalibration> {
  const near = job.nodes.findIndex((node, process) => process > 0 && node === job.nodes[0])
  const far = job.nodes.findIndex((node) => node !== job.nodes[0])
  const node = near < 0 ? null : await measuredMessages(job, near, runs)
  const network = far < 0 ? null : await measuredMessages(job, far, runs)
  const [block, byte, sum] = columnsOf(await figuresOf(job, `memory ${runs}`, 3 * runs), 3)
  return {
    runs,
    node: node?.costs ?? null,
    network: network?.costs ?? null,
    nodeTables: null,
    networkTables: null,
    copyBlockNs: atLeastZero(block.map((cost, i) => cost - 8 * byte[i])),
    copyNsPerByte: atLeastZero(byte),
    reduceNsPerByte: atLeastZero(sum),
    eagerLimitBytes: (network ?? node)!.eagerLimitBytes,
  }
}

/** Measures between process 0 and another one. */
async function measuredMessages(
  job: MeasuringJob,
  process: number,
  runs: number,
): Promise<{ readonly costs: MeasuredMessages; readonly eagerLimitBytes: number }> {
  const [limit, ...figures] = await figuresOf(job, `messages ${process} ${runs}`, 1 + 5 * runs)
  const [hop, perByte, stream, sendOverhead, receiveOverhead] = columnsOf(figures, 5)
  const costs = messageCosts({ hop, perByte, stream, sendOverhead, receiveOverhead })
  return { costs, eagerLimitBytes: limit < 0 ? Number.POSITIVE_INFINITY : limit }
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

/** Returns the values of every figure, one per run, of a list that has the figures of run after run. */
function columnsOf(figures: readonly number[], count: number): readonly (readonly number[])[] {
  return Array.from({ length: count }, (_, figure) => figures.filter((_, i) => i % count === figure))
}
