import type { Communicator } from '../comm/communicator.js'

/** The clock of the process that a program runs in. */
export interface Stopwatch {
  nowNs(): number
  /** Occupies the processor for so long. */
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
  /** What one sample takes, about: less than a time slice of the system. */
  readonly sampleMs: number
  /**
   * Samples of each workload in a run, of which the fastest counts: what else runs on the machine only adds
   * time.
   */
  readonly samplesPerRun: number
  /** Fixed number of iterations, instead of as many as take `sampleMs`. */
  readonly iterations?: number | undefined
}

const mostIterations = 2 ** 16
/** Until a workload's code has been compiled. */
const warmUpMs = 30

/**
 * What one unit of the quantity costs, in every run: the difference of times, so that whatever both workloads
 * have in common does not count. Samples of both alternate, so that a change of the machine's speed meets
 * both. All ranks of the communicator take part; the time is that of its rank 0.
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

/** The same on every rank. Warms up on the way. */
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
