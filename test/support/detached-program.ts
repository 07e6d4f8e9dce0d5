import type { Communicator, TopologyCommunicator } from 'rankweave'

/** Which of its arrays a rank transfers away while a call runs. */
export type Which = 'data' | 'into'

/** One call of every rank of a fresh communicator of four. */
export interface Part {
  readonly call: string
  /** Elements of a block. */
  readonly length: number
  /** The rank that transfers its array, and which. */
  readonly who: number
  readonly which: Which
  /** Turns of the event loop between its call and the transfer. */
  readonly turns: number
  /** Turns after which each rank calls. */
  readonly late: readonly number[]
}

/**
 * `right`, `transferred` where the result is the array that the rank has transferred itself, the code of its
 * error, or what is wrong.
 */
export type Outcome = string

const ranks = 4

interface Arrays {
  readonly data: Float64Array
  readonly into: Float64Array
}

interface Call {
  /** Blocks of `data` and of `into`. */
  readonly blocks: readonly [number, number]
  /** Prepares the call, collectively; what it returns starts it. */
  prepare(comm: Communicator, arrays: Arrays): Promise<() => Promise<unknown>>
  /** The value of every block that a rank gets; null for none. */
  expected(rank: number): readonly number[] | null
}

const total = 1 + 2 + 3 + 4
const everyone = [1, 2, 3, 4]
const numbers = (count: number, length: number) => new Array<number>(count).fill(length)
const left = (rank: number, by: number) => (rank - by + ranks) % ranks
const sources = (rank: number) => [1 + left(rank, 1), 1 + left(rank, 2)]
const prefix = (rank: number) => everyone.slice(0, rank).reduce((sum, each) => sum + each, 0)

type Start = (comm: Communicator, arrays: Arrays, length: number) => Promise<unknown>

function collective(
  blocks: readonly [number, number],
  expected: Call['expected'],
  start: Start,
): Readonly<Record<'fresh' | 'into', Call>> {
  const of = (isInto: boolean): Call => ({
    blocks,
    expected,
    prepare: async (comm, { data, into }) => {
      const length = data.length / blocks[0]
      return () => start(comm, { data, into: (isInto ? into : undefined) as Float64Array }, length)
    },
  })
  return { fresh: of(false), into: of(true) }
}

interface Startable {
  start(): Promise<void>
}

/** Started once for the result of this start alone. */
function persistent(
  blocks: readonly [number, number],
  expected: Call['expected'],
  init: (comm: Communicator, arrays: Arrays, length: number) => Startable,
): Call {
  return {
    blocks,
    expected,
    async prepare(comm, arrays) {
      const request = init(comm, arrays, arrays.data.length / blocks[0])
      await request.start()
      arrays.into.fill(-1)
      return async () => {
        await request.start()
        return expected(comm.rank) === null ? null : arrays.into
      }
    },
  }
}

function onGraph(
  blocks: readonly [number, number],
  expected: Call['expected'],
  start: (graph: TopologyCommunicator, arrays: Arrays, length: number) => Promise<unknown>,
  strategy: string,
): Call {
  return {
    blocks,
    expected,
    async prepare(comm, arrays) {
      const graph = await graphOn(comm, strategy)
      return () => start(graph, arrays, arrays.data.length / blocks[0])
    },
  }
}

function persistentOnGraph(
  blocks: readonly [number, number],
  expected: Call['expected'],
  init: (graph: TopologyCommunicator, arrays: Arrays, length: number) => Startable,
): Call {
  return {
    blocks,
    expected,
    async prepare(comm, arrays) {
      const graph = await graphOn(comm, 'direct')
      const request = init(graph, arrays, arrays.data.length / blocks[0])
      await request.start()
      arrays.into.fill(-1)
      return async () => {
        await request.start()
        return arrays.into
      }
    },
  }
}

function graphOn(comm: Communicator, strategy: string): Promise<TopologyCommunicator> {
  const { rank } = comm
  return comm.createDistGraphAdjacent({
    sources: [left(rank, 1), left(rank, 2)],
    destinations: [(rank + 1) % ranks, (rank + 2) % ranks],
    strategy:
      strategy === 'common-neighbor'
        ? { kind: strategy, k: 2, mode: 'agnostic' }
        : { kind: strategy as 'direct' },
  })
}

const plus = {
  kind: 'operation' as const,
  name: 'plus',
  commutative: true,
  combine: (a: Float64Array, b: Float64Array) => a.map((value, i) => value + b[i]),
}

const gathered = () => everyone
const atRoot = (rank: number) => (rank === 1 ? everyone : null)
const sum = () => [total]
const sumAtRoot = (rank: number) => (rank === 1 ? [total] : null)
const ofRoot = () => [2]
const scanned = (rank: number) => [prefix(rank + 1)]
const exscanned = (rank: number) => (rank === 0 ? null : [prefix(rank)])
const around = (rank: number) => [sources(rank).reduce((a, b) => a + b)]

/** Ordinary calls, with a fresh array as result and with `into`. */
const collectives = {
  bcast: collective([1, 1], ofRoot, (comm, { data, into }) =>
    comm.bcast(comm.rank === 1 ? data : null, 1, comm.rank === 1 || !into ? {} : { into }),
  ),
  reduce: collective([1, 1], sumAtRoot, (comm, { data, into }) => comm.reduce(data, 'sum', 1, { into })),
  allreduce: collective([1, 1], sum, (comm, { data, into }) => comm.allreduce(data, 'sum', { into })),
  iallreduce: collective([1, 1], sum, (comm, { data, into }) =>
    comm.iallreduce(data, 'sum', { into }).wait(),
  ),
  'allreduce of a function': collective([1, 1], sum, (comm, { data, into }) =>
    comm.allreduce(data, plus, { into }),
  ),
  'allreduce in any order': collective([1, 1], sum, (comm, { data, into }) =>
    comm.allreduce(data, 'sum', { into, order: 'any' }),
  ),
  gather: collective([1, 4], atRoot, (comm, { data, into }) => comm.gather(data, 1, { into })),
  'gather-binomial': collective([1, 4], atRoot, (comm, { data, into }) =>
    comm.gather(data, 1, { into, algorithm: 'gather-binomial' }),
  ),
  gatherv: collective([1, 4], atRoot, (comm, { data, into }) => comm.gatherv(data, 1, { into })),
  'gatherv by gather-binomial': collective([1, 4], atRoot, (comm, { data, into }) =>
    comm.gatherv(data, 1, { into, algorithm: 'gather-binomial' }),
  ),
  allgather: collective([1, 4], gathered, (comm, { data, into }) => comm.allgather(data, { into })),
  'allgather-bruck': collective([1, 4], gathered, (comm, { data, into }) =>
    comm.allgather(data, { into, algorithm: 'allgather-bruck' }),
  ),
  allgatherv: collective([1, 4], gathered, (comm, { data, into }) => comm.allgatherv(data, { into })),
  scatter: collective([4, 1], ofRoot, (comm, { data, into }) =>
    comm.scatter(comm.rank === 1 ? data : null, 1, { into }),
  ),
  scatterv: collective([4, 1], ofRoot, (comm, { data, into }, length) =>
    comm.scatterv(comm.rank === 1 ? data : null, numbers(4, length), 1, { into }),
  ),
  alltoall: collective([4, 4], gathered, (comm, { data, into }) => comm.alltoall(data, { into })),
  'alltoall-bruck': collective([4, 4], gathered, (comm, { data, into }) =>
    comm.alltoall(data, { into, algorithm: 'alltoall-bruck' }),
  ),
  alltoallv: collective([4, 4], gathered, (comm, { data, into }, length) =>
    comm.alltoallv(data, numbers(4, length), { into }),
  ),
  reduceScatter: collective([4, 1], sum, (comm, { data, into }) => comm.reduceScatter(data, 'sum', { into })),
  scan: collective([1, 1], scanned, (comm, { data, into }) => comm.scan(data, 'sum', { into })),
  exscan: collective([1, 1], exscanned, (comm, { data, into }) => comm.exscan(data, 'sum', { into })),
  sendrecv: collective(
    [1, 1],
    (rank) => [1 + left(rank, 1)],
    async (comm, { data, into }) => {
      const sent = comm.isend(data, (comm.rank + 1) % ranks, 7)
      const options = into === undefined ? {} : { into }
      const received = await comm.recv(left(comm.rank, 1), 7, options).catch((error) => error)
      await sent.wait()
      if (received instanceof Error) throw received
      return received.data
    },
  ),
} as const

/** Calls whose results go to `into` in any case. */
const others: Readonly<Record<string, Call>> = {
  'ineighborAllgather direct': onGraph(
    [1, 2],
    sources,
    (graph, { data, into }) => graph.ineighborAllgather(data, { into }).wait(),
    'direct',
  ),
  'neighborAllgather common-neighbor': onGraph(
    [1, 2],
    sources,
    (graph, { data, into }) => graph.neighborAllgather(data, { into }),
    'common-neighbor',
  ),
  neighborAllgatherv: onGraph(
    [1, 2],
    sources,
    (graph, { data, into }) => graph.neighborAllgatherv(data, { into }),
    'direct',
  ),
  neighborAlltoall: onGraph(
    [2, 2],
    sources,
    (graph, { data, into }) => graph.neighborAlltoall(data, { into }),
    'direct',
  ),
  neighborAlltoallv: onGraph(
    [2, 2],
    sources,
    (graph, { data, into }, length) => graph.neighborAlltoallv(data, numbers(2, length), { into }),
    'direct',
  ),
  neighborAlltoallw: onGraph(
    [2, 2],
    sources,
    async (graph, { data, into }, length) => {
      await graph.neighborAlltoallw([data.subarray(0, length), data.subarray(length)], {
        into: [into.subarray(0, length), into.subarray(length)],
      })
      return into
    },
    'direct',
  ),
  neighborReduce: onGraph(
    [1, 1],
    around,
    (graph, { data, into }) => graph.neighborReduce(data, 'sum', { into }),
    'direct',
  ),
  neighborAllgatherInit: persistentOnGraph([1, 2], sources, (graph, { data, into }) =>
    graph.neighborAllgatherInit(data, into),
  ),
  'neighborAllgatherInit shared': persistentOnGraph([1, 2], sources, (graph, { data, into }) =>
    graph.neighborAllgatherInit(data, into, { sharedMemory: true }),
  ),
  neighborAllgathervInit: persistentOnGraph([1, 2], sources, (graph, { data, into }, length) =>
    graph.neighborAllgathervInit(data, into, { counts: numbers(2, length) }),
  ),
  neighborAlltoallInit: persistentOnGraph([2, 2], sources, (graph, { data, into }) =>
    graph.neighborAlltoallInit(data, into),
  ),
  neighborAlltoallvInit: persistentOnGraph([2, 2], sources, (graph, { data, into }, length) =>
    graph.neighborAlltoallvInit(data, numbers(2, length), into),
  ),
  neighborAlltoallwInit: persistentOnGraph([2, 2], sources, (graph, { data, into }, length) =>
    graph.neighborAlltoallwInit(
      [data.subarray(0, length), data.subarray(length)],
      [into.subarray(0, length), into.subarray(length)],
    ),
  ),
  neighborReduceInit: persistentOnGraph([1, 1], around, (graph, { data, into }) =>
    graph.neighborReduceInit(data, into, 'sum'),
  ),
  reduceInit: persistent([1, 1], sumAtRoot, (comm, { data, into }) => comm.reduceInit(data, into, 'sum', 1)),
  allreduceInit: persistent([1, 1], sum, (comm, { data, into }) => comm.allreduceInit(data, into, 'sum')),
  gatherInit: persistent([1, 4], atRoot, (comm, { data, into }) => comm.gatherInit(data, into, 1)),
  gathervInit: persistent([1, 4], atRoot, (comm, { data, into }) => comm.gathervInit(data, into, 1)),
  allgatherInit: persistent([1, 4], gathered, (comm, { data, into }) => comm.allgatherInit(data, into)),
  allgathervInit: persistent([1, 4], gathered, (comm, { data, into }) => comm.allgathervInit(data, into)),
  scatterInit: persistent([4, 1], ofRoot, (comm, { data, into }) => comm.scatterInit(data, into, 1)),
  scattervInit: persistent([4, 1], ofRoot, (comm, { data, into }, length) =>
    comm.scattervInit(data, numbers(4, length), into, 1),
  ),
  alltoallInit: persistent([4, 4], gathered, (comm, { data, into }) => comm.alltoallInit(data, into)),
  alltoallvInit: persistent([4, 4], gathered, (comm, { data, into }, length) =>
    comm.alltoallvInit(data, numbers(4, length), into),
  ),
  reduceScatterInit: persistent([4, 1], sum, (comm, { data, into }) =>
    comm.reduceScatterInit(data, into, 'sum'),
  ),
  scanInit: persistent([1, 1], scanned, (comm, { data, into }) => comm.scanInit(data, into, 'sum')),
  exscanInit: persistent([1, 1], exscanned, (comm, { data, into }) => comm.exscanInit(data, into, 'sum')),
}

export const detachingCalls: Readonly<Record<string, Call>> = {
  ...Object.fromEntries(
    Object.entries(collectives).flatMap(([name, { fresh, into }]) => [
      [name, fresh],
      [`${name} into`, into],
    ]),
  ),
  ...others,
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** What every rank gets of calls in which one of them transfers its array. */
export default async function main(world: Communicator, parts: readonly Part[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const part of parts) outcomes.push(await outcomeOf(world, part))
  return outcomes
}

/** All ways in which one rank transfers an array of a call: of short and long arrays, early and late. */
export function partsOf(call: string, which: Which): readonly Part[] {
  const lateness = [
    [0, 0, 0, 0],
    [0, 3, 0, 6],
    [4, 0, 2, 0],
  ]
  return [3, 3000].flatMap((length) =>
    lateness.flatMap((late) =>
      [1, 3].flatMap((who) => [0, 2].map((turns) => ({ call, length, who, which, turns, late }))),
    ),
  )
}

async function outcomeOf(world: Communicator, part: Part): Promise<Outcome> {
  const comm = await world.dup()
  const { rank } = comm
  const { blocks, prepare, expected } = detachingCalls[part.call]
  const data = new Float64Array(part.length * blocks[0]).fill(rank + 1)
  const into = new Float64Array(part.length * blocks[1]).fill(-1)
  const start = await prepare(comm, { data, into })
  await world.barrier()
  for (let i = 0; i < part.late[rank]; i++) await turn()
  const transferred = part.which === 'data' ? data : into
  const outcome = (async () => {
    try {
      const result = await start()
      const isOwn = rank === part.who && arrayIn(result) === transferred && transferred.length === 0
      return isOwn ? 'transferred' : compared(result, expected(rank), part.length)
    } catch (error) {
      return (error as { code?: string }).code ?? `${error}`
    }
  })()
  if (rank === part.who) {
    for (let i = 0; i < part.turns; i++) await turn()
    const { buffer } = transferred
    structuredClone(buffer, { transfer: [buffer] })
  }
  return outcome
}

function arrayIn(result: unknown): Float64Array | undefined {
  return ArrayBuffer.isView(result)
    ? (result as Float64Array)
    : (result as { data?: Float64Array } | null)?.data
}

function compared(result: unknown, expected: readonly number[] | null, length: number): Outcome {
  if (expected === null) return result === null || result === undefined ? 'right' : `wrong: ${result}`
  const array = arrayIn(result)
  if (array === undefined) return `wrong: ${result}`
  if (array.length !== expected.length * length) return `wrong: ${array.length} elements`
  const at = array.findIndex((value, i) => value !== expected[Math.floor(i / length)])
  return at < 0 ? 'right' : `wrong: ${array[at]} at ${at}`
}
