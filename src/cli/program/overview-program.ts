import type { Communicator } from '../../handles/communicator.js'
import type { Strategy } from '../../neighborhood/strategies/strategies.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { operationsPerRun, type TimedOperation, timeOf } from './timed-operations.js'

export interface OverviewProblem {
  readonly runs: number
  /** The approximate time of one run of one operation. */
  readonly runMs: number
  readonly topology: ProcessTopology
}

export interface OverviewFigure {
  readonly operation: OverviewOperation
  /** The payload of one message or one contribution. */
  readonly bytes: number
  /** The number of operations per run. */
  readonly iterations: number
  /** The time of one operation, one figure per run. */
  readonly microseconds: readonly number[]
}

export type OverviewOperation =
  | 'ping-pong'
  | 'allreduce'
  | 'neighbor allgather, direct'
  | 'neighbor allgather, common-neighbor'

const shortBytes = 8
const longBytes = 2 ** 20
const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'agnostic' },
]

/** Runs `rankweave measure --ranks` on every rank; rank 0 returns the figures. Results are checked before timing. */
export default async function main(
  world: Communicator,
  { runs, runMs, topology }: OverviewProblem,
): Promise<readonly OverviewFigure[] | null> {
  const figures: OverviewFigure[] = []
  const measure = async (operation: OverviewOperation, bytes: number, once: TimedOperation, legs = 1) => {
    const iterations = await operationsPerRun(world, once, runMs)
    const microseconds: number[] = []
    for (let run = 0; run < runs; run++) {
      microseconds.push(((await timeOf(world, once, iterations)) * 1000) / iterations / legs)
    }
    figures.push({ operation, bytes, iterations, microseconds })
  }
  if (world.size > 1) {
    for (const bytes of [shortBytes, longBytes]) {
      await measure('ping-pong', bytes, await pingPong(world, bytes), 2)
    }
  }
  await measure('allreduce', shortBytes, await allreduce(world))
  for (const strategy of strategies) {
    const name = `neighbor allgather, ${strategy.kind}` as OverviewOperation
    await measure(name, shortBytes, await neighborAllgather(world, topology, strategy))
  }
  return world.rank === 0 ? figures : null
}

/** Sends a message from rank 0 to the last rank and back; the ranks between have nothing to do. */
async function pingPong(world: Communicator, bytes: number): Promise<TimedOperation> {
  const last = world.size - 1
  const [mine, peer] = world.rank === 0 ? [0, last] : [world.rank, 0]
  const out = new Uint8Array(bytes)
  const into = new Uint8Array(bytes)
  const options = { into }
  let once: TimedOperation = async () => {}
  if (mine === 0) {
    once = async () => {
      await world.send(out, peer)
      await world.recv(peer, 0, options)
    }
  } else if (mine === last) {
    once = async () => {
      await world.recv(peer, 0, options)
      await world.send(out, peer)
    }
  } else return once
  for (let round = 0; round < 3; round++) {
    out.fill(mine === 0 ? round + 1 : round + 101)
    await once()
    const expected = mine === 0 ? round + 101 : round + 1
    const isRight = into.every((byte) => byte === expected)
    requireRight(isRight, `ping-pong of ${bytes} bytes`)
  }
  return once
}

async function allreduce(world: Communicator): Promise<TimedOperation> {
  const mine = new Float64Array(1)
  const options = { into: new Float64Array(1) }
  const once = () => world.allreduce(mine, 'sum', options)
  for (let round = 0; round < 3; round++) {
    mine[0] = world.rank + round
    await once()
    const expected = (world.size * (world.size - 1)) / 2 + round * world.size
    requireRight(options.into[0] === expected, 'allreduce')
  }
  return once
}

async function neighborAllgather(
  world: Communicator,
  topology: ProcessTopology,
  strategy: Strategy,
): Promise<TimedOperation> {
  const graph = await world.createTopology(topology, { strategy })
  const { sources } = graph
  const mine = new Float64Array(1)
  const into = new Float64Array(sources.length)
  const options = { into }
  const once = () => graph.neighborAllgather(mine, options)
  for (let round = 0; round < 3; round++) {
    mine[0] = world.rank * 1000 + round
    await once()
    const isRight = into.every((value, s) => value === sources[s] * 1000 + round)
    requireRight(isRight, `neighbor allgather, ${strategy.kind}`)
  }
  return once
}

function requireRight(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`wrong result: ${what}`)
}
