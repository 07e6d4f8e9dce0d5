import type { Communicator } from '../handles/communicator.js'

/** The clock of the process that a program runs in. */
export interface Stopwatch {
  nowNs(): number
  /** Occupies the processor for this time. */
  compute(durationNs: number): void
}

export const processStopwatch: Stopwatch = {
  nowNs: () => performance.now() * 1e6,
  compute(durationNs) {
    const end = performance.now() + durationNs / 1e6
    while (performance.now() < end);
  },
}

/**
 * A function that repeats some work and returns the time that counts, nanoseconds. Ranks that do not take part return
 * 0.
 */
export type Workload = (iterations: number) => Promise<number>

/** Two workloads that differ in one quantity, and how much more of it the second has. */
export interface Contrast {
  readonly first: Workload
  readonly second: Workload
  readonly difference: number
}

export interface SamplingOptions {
  readonly runs: number
  /** The approximate time of one sample: less than a time slice of the system. */
  readonly sampleMs: number
  /** The samples of each workload in a run. The fastest counts, because other work on the machine only adds time. */
  readonly samplesPerRun: number
  /** The fixed number of iterations, instead of as many as take `sampleMs`. */
  readonly iterations?: number | undefined
}

const mostIterations = 2 ** 16
/** The time until a workload's code has been compiled. */
const warmUpMs = 30

/**
 * Returns the cost of one unit of the quantity, in every run. It is a difference of times, so that the common part of
 * both workloads does not count. Samples of both alternate, so that a change of the machine's speed affects both. All
 * ranks of the communicator take part; the time is that of its rank 0.
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
    let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let i = 0; i < options.samplesPerRun; i++) {
      short = Math.min(short, await sample(comm, first, firsts))
      long = Math.min(long, await sample(comm, second, seconds))
    }
    costs.push((long - short) / difference)
  }
  return (await comm.bcast(costs)) as number[]
}

/** Nanoseconds of one iteration, at rank 0. */
async function sample(comm: Communicator, workload: Workload, iterations: number): Promise<number> {
  await comm.barrier()
  return (await workload(iterations)) / iterations
}

/** Returns the number of iterations, the same on every rank, and warms up meanwhile. */
async function iterationsFor(
  comm: Communicator,
  workload: Workload,
  { iterations, sampleMs }: SamplingOptions,
): Promise<number> {
  if (iterations !== undefined) return iterations
  const warm = performance.now() + warmUpMs
  for (let count = 1; ; ) {
    const begin = performance.now()
    await sample(comm, workload, count)
    const now = performance.now()
    const isEnough = now - begin >= sampleMs || count >= mostIterations
    const next = (await comm.bcast(Int32Array.of(Number(isEnough), Number(now >= warm)))) as Int32Array
    if (next[0] === 0) count *= 2
    else if (next[1] === 1) return count
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
