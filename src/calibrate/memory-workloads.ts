import { medianOf } from '../base/search.js'
import type { Communicator } from '../handles/communicator.js'
import { contrast, type SamplingOptions, type Stopwatch, timed, type Workload } from './sampler.js'

/** The costs of data in the memory of one process, one value per run, nanoseconds. */
export interface MemorySamples {
  /** The cost per block of 8 bytes that is copied. */
  readonly perBlock: readonly number[]
  readonly perByteCopied: readonly number[]
  readonly perByteReduced: readonly number[]
}

const [fewNeighbors, manyNeighbors] = [2, 10]
const [shortBytes, longBytes] = [8, 16_384]
const reducedBytes = [8, 16_384, 65_536, 262_144, 1_048_576]

/**
 * Measures inside one process: an allgather among its ranks copies a block per edge; a reduction of the ranks combines
 * all their vectors.
 *
 * @param comm ranks of one process, at least 11
 */
export async function sampleMemory(
  comm: Communicator,
  stopwatch: Stopwatch,
  options: SamplingOptions,
): Promise<MemorySamples> {
  const ranks = comm.size
  const few = await allgather(comm, fewNeighbors, shortBytes, stopwatch)
  const many = await allgather(comm, manyNeighbors, shortBytes, stopwatch)
  const long = await allgather(comm, manyNeighbors, longBytes, stopwatch)
  const perBlock = await contrast(
    comm,
    { first: few, second: many, difference: ranks * (manyNeighbors - fewNeighbors) },
    options,
  )
  const perByteCopied = await contrast(
    comm,
    { first: many, second: long, difference: ranks * manyNeighbors * (longBytes - shortBytes) },
    options,
  )
  return { perBlock, perByteCopied, perByteReduced: await steadyReduction(comm, stopwatch, options) }
}

/** Returns the cost of combining a byte, one value per run. */
function steadyReduction(
  comm: Communicator,
  stopwatch: Stopwatch,
  options: SamplingOptions,
): Promise<readonly number[]> {
  return steadyCost((shorter, longer) => {
    const first = reduction(comm, shorter, stopwatch)
    const second = reduction(comm, longer, stopwatch)
    return contrast(comm, { first, second, difference: (comm.size - 1) * (longer - shorter) }, options)
  })
}

/**
 * Returns the cost of a byte between two lengths, one value per run, once it is steady. Lengths grow until it no longer
 * changes by a tenth, or until they are a MiB, so that vectors do not fit caches.
 *
 * @see Pjesivac-Grbovic 2007 §4.4.1
 */
export async function steadyCost(
  costBetween: (shorter: number, longer: number) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  let costs = await costBetween(reducedBytes[0], reducedBytes[1])
  for (let i = 2; i < reducedBytes.length; i++) {
    const before = medianOf(costs)
    costs = await costBetween(reducedBytes[i - 1], reducedBytes[i])
    if (isSteady(before, medianOf(costs))) break
  }
  return costs
}

function isSteady(before: number, now: number): boolean {
  return Math.abs(now - before) <= Math.abs(before) / 10
}

async function allgather(
  comm: Communicator,
  neighbors: number,
  bytes: number,
  stopwatch: Stopwatch,
): Promise<Workload> {
  const around = (by: number): number[] =>
    Array.from({ length: neighbors }, (_, i) => (comm.rank + comm.size + by * (i + 1)) % comm.size)
  const graph = await comm.createDistGraphAdjacent({ sources: around(-1), destinations: around(1) })
  const mine = new Uint8Array(bytes)
  const into = new Uint8Array(neighbors * bytes)
  const request = graph.neighborAllgatherInit(mine, into)
  return (iterations) => timed(stopwatch, iterations, () => request.start())
}

function reduction(comm: Communicator, bytes: number, stopwatch: Stopwatch): Workload {
  const mine = new Float64Array(bytes / 8)
  const options = { into: new Float64Array(bytes / 8) }
  return (iterations) => timed(stopwatch, iterations, () => comm.reduce(mine, 'sum', 0, options))
}
