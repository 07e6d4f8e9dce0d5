import { ANY_SOURCE, type Communicator, isRankweaveError } from 'rankweave'
import { parseMachine } from 'rankweave/machine'
import type { Operation } from './fault-rows.js'

/** The rank that a fault strikes, alone on its process, unless a case names another one. */
export const victim = 2

/** What a survivor has seen; what it says to the test. */
export interface Seen {
  readonly rank: number
  /** How the operation failed; null when it never did. */
  readonly code: string | null
  /** Which process the error names. */
  readonly process: number | null
  /** How an operation failed that the survivors did among themselves. */
  readonly others: string | null
  /** World ranks of what `shrink` returned, or how it failed. */
  readonly shrink: readonly number[] | string
}

export interface FaultCase {
  readonly operation: Operation
  /** Default: {@link victim}. */
  readonly victim?: number
  /** Steps of the operation that succeed before the fault may strike. */
  readonly stepsBefore: number
  /** Steps after which nothing more is expected to fail; null: continue until the operation fails. */
  readonly stepsAfter: number | null
  /** The fault strikes in the turn in which a step begins, and the victim tells what it has seen, too. */
  readonly detaches?: boolean
  /** At the victim, in the middle of a step. @param data what the operation reads after its call has returned */
  readonly strike: (data: Float64Array | undefined) => void
  readonly tell: (seen: Seen) => void
}

/**
 * Every rank repeats the operation until it fails. Survivors then do without the victim, and tell what they
 * have seen.
 */
export async function faultProgram(world: Communicator, fault: FaultCase): Promise<void> {
  const struck = fault.victim ?? victim
  const survivors = [0, 1, 2].filter((rank) => rank !== struck)
  const pair = await world.split(world.rank === struck ? null : 0)
  const { step, data } = await prepared(world, fault.operation, struck, survivors)
  for (let n = 0; n < fault.stepsBefore; n++) await step()
  if (pair === null) {
    for (const rank of survivors) await world.recv(rank, 2)
    await suffer(world, step, data, fault, survivors[0]!)
    return
  }
  // From here on what fails is the operation.
  await world.send(0, struck, 2)
  const { code, process } = await failure(() => repeat(step, fault.stepsAfter))
  const others = (await failure(() => goOn(pair))).code
  if (fault.detaches && world.rank === survivors[0]) await world.send(0, struck, 3)
  const shrink = await shrunk(world, code)
  fault.tell({ rank: world.rank, code, process, others, shrink })
}

/**
 * The victim's part: a step it does not finish, or, when the fault comes from outside, as many as succeed.
 */
async function suffer(
  world: Communicator,
  step: () => Promise<unknown>,
  data: Float64Array | undefined,
  fault: FaultCase,
  survivor: number,
): Promise<void> {
  const steps = repeat(step, fault.stepsAfter)
  // What it learns of its own loss is not compared: it may be gone.
  steps.catch(() => {})
  if (!fault.detaches) await new Promise((resolve) => setImmediate(resolve))
  fault.strike(data)
  if (fault.stepsAfter === null && !fault.detaches) {
    await steps.catch(() => {})
    return
  }
  const { code, process } = await failure(() => steps)
  // All others have seen the failure, and not that this rank revokes the world because of it.
  if (fault.detaches) await failure(() => world.recv(survivor, 3))
  fault.tell({ rank: world.rank, code, process, others: null, shrink: await shrunk(world, code) })
}

async function repeat(step: () => Promise<unknown>, steps: number | null): Promise<void> {
  for (let n = 0; steps === null || n < steps; n++) await step()
}

/** What survivors do among themselves: collectives, and messages past the eager limit. */
async function goOn(pair: Communicator): Promise<void> {
  const sum = await pair.allreduce(Int32Array.of(pair.rank + 1), 'sum')
  const big = new Float64Array(100_000).fill(pair.rank)
  const { data } = await pair.sendrecv(big, 1 - pair.rank, 1 - pair.rank)
  if (sum[0] !== 3 || (data as Float64Array)[99_999] !== 1 - pair.rank) throw new Error('wrong values')
}

/** @param harm how the operation failed; without any, others may still be in it, and must not be revoked */
async function shrunk(world: Communicator, harm: string | null): Promise<readonly number[] | string> {
  let ranks: readonly number[] = []
  const { code } = await failure(async () => {
    if (harm !== null) await world.revoke()
    const rest = await world.shrink()
    const group = await rest.group()
    ranks = [...(await group.worldRanks())]
    const sum = await rest.allreduce(Int32Array.of(world.rank + 1), 'sum')
    if (sum[0] !== ranks.reduce((total, rank) => total + rank + 1, 0)) throw new Error('wrong sum')
  })
  return code ?? ranks
}

/** How something failed, if it did. What is no error of Rankweave is a defect. */
async function failure(
  act: () => Promise<unknown>,
): Promise<{ code: string | null; process: number | null }> {
  try {
    await act()
    return { code: null, process: null }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return { code: error.code, process: (error.details['process'] as number | undefined) ?? null }
  }
}

/** More than any eager limit. */
const bulkBytes = 4 * 2 ** 20

interface Prepared {
  readonly step: () => Promise<unknown>
  /** What is read after the call has returned. */
  readonly data?: Float64Array
}

/** One step of the operation, the same at every rank of the world unless it is of messages. */
async function prepared(
  world: Communicator,
  operation: Operation,
  struck: number,
  survivors: readonly number[],
): Promise<Prepared> {
  const { rank } = world
  const toVictim = (data: Int32Array) => () => world.send(data, struck, 1)
  const fromVictim = (source: number, into: Int32Array) => () => world.recv(source, 1, { into })
  const asVictim = (act: (survivor: number) => Promise<unknown>) => () => Promise.all(survivors.map(act))
  switch (operation) {
    case 'send':
    case 'bulk send': {
      const data = new Int32Array(operation === 'send' ? 100 : bulkBytes / 4).fill(rank)
      if (rank !== struck) return { step: toVictim(data) }
      return { step: asVictim((survivor) => world.recv(survivor, 1)) }
    }
    case 'recv':
    case 'bulk recv':
    case 'recv from ANY_SOURCE': {
      const data = new Int32Array(operation === 'bulk recv' ? bulkBytes / 4 : 100).fill(rank)
      if (rank === struck) return { step: asVictim((survivor) => world.send(data, survivor, 1)) }
      return { step: fromVictim(operation === 'recv from ANY_SOURCE' ? ANY_SOURCE : struck, data) }
    }
    case 'barrier':
      return { step: () => world.barrier() }
    case 'allreduce':
      return { step: () => world.allreduce(Float64Array.of(rank), 'sum') }
    case 'bulk allreduce': {
      const data = new Float64Array(bulkBytes / 8)
      return { step: () => world.allreduce(data, 'sum'), data }
    }
    case 'split':
      return { step: async () => (await world.split(0))?.free() }
    case 'reordering':
      return { step: () => reordered(world, 'graph') }
    case 'reordering in parts':
      return { step: () => reordered(world, 'neighbors') }
    case 'persistent allreduce': {
      const request = world.allreduceInit(Float64Array.of(rank), new Float64Array(1), 'sum')
      return { step: () => request.start() }
    }
    case 'planned neighbor allgather': {
      const others = [0, 1, 2].filter((each) => each !== rank)
      const graph = await world.createDistGraphAdjacent({
        sources: others,
        destinations: others,
        strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 },
      })
      const request = graph.neighborAllgatherInit(new Float64Array(1000).fill(rank), new Float64Array(2000))
      return { step: () => request.start() }
    }
  }
}

/** Ranks 0 and 2 exchange, and come to one node. */
async function reordered(world: Communicator, planFrom: 'graph' | 'neighbors'): Promise<void> {
  const neighbors = world.rank === 1 ? [] : [2 - world.rank]
  const graph = await world.createDistGraphAdjacent({
    ...{ sources: neighbors, destinations: neighbors, planFrom },
    ...{ reorder: true, machine: parseMachine('cluster:nodes=2,cores=2') },
  })
  if (graph.rank !== [0, 2, 1][world.rank]) throw new Error(`rank ${world.rank} became ${graph.rank}`)
  await graph.free()
}
