import type { PersistentRequest } from '../../calls/program/planned-call.js'
import type { Communicator } from '../../handles/communicator.js'
import type { Machine } from '../../machine/machine.js'
import type { Strategy } from '../../neighborhood/strategies/strategies.js'
import type { MeasuredRuns } from '../../study/study.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { operationsPerRun, timeOf } from './timed-operations.js'

/** A strategy that the command has parsed: threads load no parser for it. */
export interface NamedStrategy {
  readonly text: string
  readonly strategy: Strategy
}

export interface StudyProblem {
  readonly topology: ProcessTopology
  /** The machine whose nodes the plans know. */
  readonly machine: Machine
  /** The strategies. Those of rank 0 count: only its process makes the study. */
  readonly strategies: readonly NamedStrategy[]
  readonly bytes: readonly number[]
  readonly runs: number
  /** The approximate time of one run. */
  readonly runMs: number
}

/** Runs `rankweave study` on every rank; rank 0 returns the figures. Results are checked before timing. */
export default async function main(
  world: Communicator,
  { topology, machine, strategies, bytes, runs, runMs }: StudyProblem,
): Promise<readonly MeasuredRuns[] | null> {
  const named = (await world.bcast(strategies)) as readonly NamedStrategy[]
  const texts = named.map(({ text }) => text)
  const graphs = []
  for (const { strategy } of named) graphs.push(await world.createTopology(topology, { strategy, machine }))
  const measured: MeasuredRuns[] = []
  for (const length of bytes) {
    const mine = new Uint8Array(length)
    const sources = graphs[0]?.sources ?? new Int32Array(0)
    const into = new Uint8Array(length * sources.length)
    const requests = graphs.map((graph) => graph.neighborAllgatherInit(mine, into))
    const iterations: number[] = []
    for (const [i, request] of requests.entries()) {
      await check(request, { rank: world.rank, mine, into, sources }, texts[i])
      iterations.push(await operationsPerRun(world, () => request.start(), runMs))
    }
    const microseconds = texts.map((): number[] => [])
    for (let run = 0; run < runs; run++) {
      for (const [i, request] of requests.entries())
        microseconds[i].push(
          (1000 * (await timeOf(world, () => request.start(), iterations[i]))) / iterations[i],
        )
    }
    for (const [i, strategy] of texts.entries())
      measured.push({ strategy, bytes: length, microseconds: microseconds[i] })
    for (const request of requests) request.free()
  }
  return world.rank === 0 ? measured : null
}

interface Buffers {
  readonly rank: number
  readonly mine: Uint8Array
  readonly into: Uint8Array
  readonly sources: Int32Array
}

async function check(
  request: PersistentRequest,
  { rank, mine, into, sources }: Buffers,
  strategy: string,
): Promise<void> {
  const { length } = mine
  for (let round = 1; round <= 2; round++) {
    mine.fill(byteOf(rank, round))
    await request.start()
    for (const [s, source] of sources.entries()) {
      const block = into.subarray(s * length, (s + 1) * length)
      if (block.some((byte) => byte !== byteOf(source, round))) throw new Error(`wrong result: ${strategy}`)
    }
  }
}

const byteOf = (rank: number, round: number) => (rank * 37 + round * 101) & 255
