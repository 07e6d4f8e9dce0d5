import { type Communicator, together } from 'rankweave'

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
  const agreement: Agreement = {
    barrier: () => world.barrier(),
    largest: async (ms) => (await world.allreduce(Float64Array.of(ms), 'max'))[0],
    ofFirst: (count) => world.bcast(count),
  }
  return timedAgreed(agreement, operations, effort)
}

/** The same of a hosted program. */
export function timedHosted(
  worlds: readonly Communicator[],
  operations: (iterations: number) => Promise<void>,
  effort: Effort,
): Promise<number> {
  const agreement: Agreement = {
    barrier: () => together(worlds, (world) => world.barrier()),
    largest: async (ms) => (await together(worlds, (world) => world.allreduce(ms, 'max')))[0],
    ofFirst: async (count) => (await together(worlds, (world) => world.bcast<number>(count)))[0],
  }
  return timedAgreed(agreement, operations, effort)
}

/** How what is timed together is agreed on. */
interface Agreement {
  barrier(): Promise<void>
  largest(ms: number): Promise<number>
  ofFirst(count: number): Promise<number>
}

async function timedAgreed(
  { barrier, largest, ofFirst }: Agreement,
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
  return medianOf(samples)
}

/** How calls by themselves are timed. */
export interface IsolatedEffort {
  /** Of a call, at most. */
  readonly repetitions: number
  /** What they may take, in milliseconds; at least {@link leastIsolated} are made. */
  readonly budgetMs: number
}

const leastIsolated = 5
const isolatedProbes = 10
const dissemination = { algorithm: 'barrier-dissemination' } as const

/**
 * Median microseconds of a call by itself, as `rankweave measure` times it: all ranks enter together, a dissemination
 * barrier follows, and the rank that takes longest counts, less the median time of the barrier alone. In calls one
 * after another a rank may begin the next one before the others have what it sent them.
 */
export async function timedIsolated(
  world: Communicator,
  call: () => Promise<unknown>,
  { repetitions, budgetMs }: IsolatedEffort,
): Promise<number> {
  const probes = await isolatedTimes(world, call, isolatedProbes)
  const onceUs = medianOf(probes.callUs) + medianOf(probes.barrierUs)
  const within = Math.floor((budgetMs * 1000) / onceUs)
  const count = await world.bcast(Math.max(leastIsolated, Math.min(repetitions, within)))
  const { callUs, barrierUs } = await isolatedTimes(world, call, count)
  const [low, high] = middleOf(barrierUs)
  return Math.max((high - low) / 2, 0.001, medianOf(callUs) - medianOf(barrierUs))
}

/** Of the rank that took longest, by repetition: the call with a barrier after it, and the barrier alone. */
async function isolatedTimes(world: Communicator, call: () => Promise<unknown>, repetitions: number) {
  const own = new Float64Array(2 * repetitions)
  await world.barrier(dissemination)
  for (let i = 0; i < repetitions; i++) {
    const before = performance.now()
    await world.barrier(dissemination)
    const entered = performance.now()
    await call()
    await world.barrier(dissemination)
    own[i] = (performance.now() - entered) * 1000
    own[repetitions + i] = (entered - before) * 1000
  }
  const longest = await world.allreduce(own, 'max')
  return { callUs: longest.slice(0, repetitions), barrierUs: longest.slice(repetitions) }
}

function medianOf(samples: Float64Array): number {
  const sorted = samples.toSorted()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Where their median lies with 95% confidence, by the normal approximation of order statistics. */
function middleOf(samples: Float64Array): readonly [low: number, high: number] {
  const { length } = samples
  const below = Math.max(1, Math.floor((length - 1.96 * Math.sqrt(length)) / 2))
  const sorted = samples.toSorted()
  return [sorted[below - 1], sorted[length - below]]
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
