import { Communicator } from 'rankweave'

export interface Effort {
  /** Operations before the first that is timed. */
  readonly warmUp: number
  /**
   * Limit of the warm-up; default 300. Processes that share a core take as many times longer to be compiled.
   */
  readonly warmUpMs?: number
  /** Operations per batch. */
  readonly iterations: number
  readonly batches: number
}

/** Limit of a batch. */
export const longestBatchMs = 5
const probes = 3

/**
 * Median microseconds of one operation over batches, which all ranks begin together. Slow operations are
 * repeated less often, the same number on all ranks, so that a run ends within its time limit.
 */
export function timed(
  world: Communicator,
  operations: (iterations: number) => Promise<void>,
  effort: Effort,
): Promise<number> {
  const together: Together = {
    barrier: () => world.barrier(),
    largest: async (ms) => (await world.allreduce(Float64Array.of(ms), 'max'))[0],
    ofFirst: (count) => world.bcast(count),
  }
  return timedTogether(together, operations, effort)
}

/** The same of a hosted program. */
export function timedHosted(
  worlds: readonly Communicator[],
  operations: (iterations: number) => Promise<void>,
  effort: Effort,
): Promise<number> {
  const ofAll = (value: number) => worlds.map(() => value)
  const together: Together = {
    barrier: () => Communicator.barrierAll(worlds),
    largest: async (ms) => (await Communicator.allreduceAll(worlds, ofAll(ms), 'max'))[0],
    ofFirst: async (count) => (await Communicator.bcastAll<number>(worlds, ofAll(count)))[0],
  }
  return timedTogether(together, operations, effort)
}

/** How what is timed together is agreed on. */
interface Together {
  barrier(): Promise<void>
  largest(ms: number): Promise<number>
  ofFirst(count: number): Promise<number>
}

async function timedTogether(
  { barrier, largest, ofFirst }: Together,
  operations: (iterations: number) => Promise<void>,
  { warmUp, warmUpMs = 300, iterations, batches }: Effort,
): Promise<number> {
  const slice = Math.max(1, Math.ceil(warmUp / 100))
  let onceMs = Number.POSITIVE_INFINITY
  for (let probe = 0; probe < probes; probe++)
    onceMs = Math.min(onceMs, await millisecondsOf(operations, slice))
  for (let done = probes * slice, spentMs = 0; done < warmUp; done += slice) {
    const sliceMs = await largest((await millisecondsOf(operations, slice)) * slice)
    onceMs = Math.min(onceMs, sliceMs / slice)
    spentMs += sliceMs
    if (spentMs > warmUpMs) break
  }
  const perBatch = await ofFirst(Math.max(1, Math.min(iterations, Math.floor(longestBatchMs / onceMs))))
  const samples = new Float64Array(batches)
  for (let b = 0; b < batches; b++) {
    await barrier()
    samples[b] = (await millisecondsOf(operations, perBatch)) * 1000
  }
  samples.sort()
  const middle = batches >> 1
  return batches % 2 === 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2
}

/** Milliseconds of one operation. */
async function millisecondsOf(
  operations: (iterations: number) => Promise<void>,
  iterations: number,
): Promise<number> {
  const begin = performance.now()
  await operations(iterations)
  return (performance.now() - begin) / iterations
}

export function expectEqual(got: unknown, expected: unknown, what: string): void {
  if (got !== expected) throw new Error(`wrong result: ${what}: expected ${expected}, got ${got}`)
}
