import type { Communicator } from '../comm/communicator.js'
import { contrast, type SamplingOptions, type Stopwatch, timed, type Workload } from './sampler.js'

/** What data cost in the memory of one process, one value per run, nanoseconds. */
export interface MemorySamples {
  /** Per block of 8 bytes that is copied. */
  readonly perBlock: readonly number[]
  readonly perByteCopied: readonly number[]
  readonly perByteReduced: readonly number[]
}

const [fewNeighbors, manyNeighbors] = [2, 10]
const [shortBytes, longBytes] = [8, 16_384]

/**
 * Measures inside one process: an allgather among its ranks copies a block per edge; a reduction of the ranks
 * combines all their vectors.
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
  const perByteReduced = await contrast(
    comm,
    {
      first: reduction(comm, shortBytes, stopwatch),
      second: reduction(comm, longBytes, stopwatch),
      difference: (ranks - 1) * (longBytes - shortBytes),
    },
    options,
  )
  return { perBlock, perByteCopied, perByteReduced }
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
