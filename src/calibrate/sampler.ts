import type { Communicator } from '../comm/communicator.js'
import type { Stopwatch } from './stopwatch.js'

/**
 * One way to spend time, so often: the time that counts, nanoseconds. Ranks that do not take part return 0.
 */
export type Workload = (iterations: number) => Promise<number>

/** Two workloads that differ in one quantity: how much more of it the second has. */
export interface Contrast {
  readonly first: Workload
  readonly second: Workload
  readonly difference: number
}

export interface SamplingOptions {
  readonly runs: number
  /** What one sample takes, about. */
  readonly sampleMs: number
  /** Fixed number of iterations, instead of as many as take `sampleMs`. */
  readonly iterations?: number | undefined
}

const mostIterations = 2 ** 16

/**
 * What one unit of the quantity costs, in every run: the difference of times, so that whatever both workloads have in
 * common does not count. Samples of both alternate, so that a change of the machine's speed meets both. All ranks of the
 * communicator take part; the time is that of its rank 0.
 */
export async function contrast(
  comm: Communicator,
  { first, second, difference }: Contrast,
  options: SamplingOptions,
): Promise<readonly number[]> {
  const [firsts, seconds] = [
    await iterationsFor(comm, first, options),
    await iterationsFor(comm, second, options),
  ]
  const costs: number[] = []
  for (let run = 0; run < options.runs; run++) {
    const short = await sample(comm, first, firsts)
    const long = await sample(comm, second, seconds)
    costs.push((long - short) / difference)
  }
  return (await comm.bcast(costs)) as number[]
}

/** Nanoseconds of one iteration, at rank 0. */
async function sample(comm: Communicator, workload: Workload, iterations: number): Promise<number> {
  await comm.barrier()
  return (await workload(iterations)) / iterations
}

/** The same on every rank. Warms up on the way. */
async function iterationsFor(
  comm: Communicator,
  workload: Workload,
  { iterations, sampleMs }: SamplingOptions,
): Promise<number> {
  if (iterations !== undefined) return iterations
  for (let count = 1; ; count *= 2) {
    const begin = performance.now()
    await sample(comm, workload, count)
    const isEnough = performance.now() - begin >= sampleMs || count >= mostIterations
    if (await comm.bcast(isEnough)) return count
  }
}

/** Time of a loop, with the stopwatch of this process. */
export async function timed(
  { nowNs }: Stopwatch,
  iterations: number,
  once: () => Promise<unknown>,
): Promise<number> {
  const begin = nowNs()
  for (let i = 0; i < iterations; i++) await once()
  return nowNs() - begin
}
