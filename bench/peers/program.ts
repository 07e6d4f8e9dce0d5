import type { Communicator } from 'rankweave'

/** A pool of worker threads, as far as these programs call it. */
export interface Pool {
  readonly threads: number
  /** Runs a function of `tasks.ts` on one of the threads. */
  run<T>(task: string, argument: unknown): Promise<T>
  close(): Promise<unknown>
}

/** Threads that share memory, as far as these programs use it. */
export interface Team {
  readonly rank: number
  readonly size: number
  /** Waits until all threads have called it. */
  barrier(): void
  /** Numbers that all threads access: the same ones if all call it in the same order. They are not zeroed. */
  shared(count: number): Float64Array
}

export type Numbers = ArrayLike<number>

/**
 * A program as its users would write it for one thread, for a pool, and for ranks. Its inner loop is the same in all, so
 * that only the parallel part differs. Each form first prepares its input, and returns what is timed.
 */
export interface Program {
  /** How often the result is timed; 0: only the first time. */
  readonly loops: number
  plain(): () => Numbers
  /** Divides the work into parts; a pool of fewer threads gets several parts for each. */
  inPool(pool: Pool, parts: number): () => Promise<Numbers>
  /** Rank 0 has the result. */
  onRanks(world: Communicator): Promise<() => Promise<Numbers | null>>
  /** Where threads with shared memory alone are a fair program: rank 0 has the result. */
  onTeam?(team: Team): () => Numbers | null
  /** @throws Error where the result is wrong */
  check(result: Numbers): void
}

/** A consecutive share of a number of items. */
export interface Share {
  readonly begin: number
  readonly end: number
}

export function shareOf(items: number, part: number, parts: number): Share {
  return { begin: Math.floor((items * part) / parts), end: Math.floor((items * (part + 1)) / parts) }
}

/** All shares, in order. */
export function sharesOf(items: number, parts: number): Share[] {
  return Array.from({ length: parts }, (_, part) => shareOf(items, part, parts))
}

/** A number from 0 below 1 that depends on an index only, so that every thread can make its own share of an input. */
export function unit(index: number): number {
  let bits = Math.imul(index + 0x9e3779b9, 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 15), 0xc2b2ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

/** Zeroed numbers that all threads of a process can access. */
export function sharedNumbers(count: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(8 * count))
}

/** Compares numbers with those of the plain loop. @param tolerance relative; sums of parts differ in their last bits */
export function expectClose(result: Numbers, expected: Numbers, tolerance = 0): void {
  if (result.length !== expected.length)
    throw new Error(`wrong result: expected ${expected.length} numbers, got ${result.length}`)
  for (let i = 0; i < expected.length; i++)
    if (!(Math.abs(result[i] - expected[i]) <= tolerance * Math.abs(expected[i])))
      throw new Error(`wrong result: expected ${expected[i]} at ${i}, got ${result[i]}`)
}

/** Returns the median milliseconds of a program, after one that is checked. */
export async function timedLoops(
  { loops, check }: Program,
  compute: () => Numbers | null | Promise<Numbers | null>,
): Promise<number> {
  const first = await timed(compute)
  if (first.result !== null) check(first.result)
  if (loops === 0) return first.ms
  const ms: number[] = []
  while (ms.length < loops) ms.push((await timed(compute)).ms)
  return ms.sort((a, b) => a - b)[loops >> 1]
}

async function timed<T>(compute: () => T | Promise<T>) {
  const begin = performance.now()
  const result = await compute()
  return { result, ms: performance.now() - begin }
}
