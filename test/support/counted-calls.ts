import type { Communicator, PersistentRequest } from 'rankweave'

/** What one call sent, of this process. */
export interface CallCount {
  /** Name, bytes, and which time. */
  readonly call: string
  readonly frames: number
  /** Of headers and payload. */
  readonly bytes: number
}

/** Algorithms that calls name, by collective. */
export type NamedAlgorithms = Readonly<Record<string, string>>

type Options = { readonly algorithm?: string }
type Call = (world: Communicator, count: number, options: Options) => Promise<unknown>

const root = 1
const own = ({ rank }: Communicator, count: number) => new Int32Array(count).fill(rank + 1)
const forAll = (world: Communicator, count: number) => own(world, count * world.size)
/** Of every rank another number. */
const varying = ({ size }: Communicator, count: number) =>
  Int32Array.from({ length: size }, (_, rank) => count + rank)
const sumOf = (counts: Int32Array) => counts.reduce((a, b) => a + b, 0)
const textOf = ({ rank }: Communicator, count: number) => ({ text: `${rank}`.padEnd(4 * count) })

/**
 * Every collective that a tuning file decides: of arrays, of varying blocks, of values, and bound to buffers. Reductions
 * are of integers, by which every algorithm gives the same bits.
 */
const calls: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  barrier: { barrier: (world, _, options) => world.barrier(options) },
  bcast: {
    bcast: (world, count, options) =>
      world.bcast(world.rank === root ? own(world, count) : null, root, options),
    'bcast of a value': (world, count, options) =>
      world.bcast(world.rank === root ? textOf(world, count) : null, root, options),
    bcastInit: (world, count, options) => startOnce(world.bcastInit(own(world, count), root, options)),
  },
  scatter: {
    scatter: (world, count, options) =>
      world.scatter(world.rank === root ? forAll(world, count) : null, root, options),
    scatterv: (world, count, options) => {
      const counts = varying(world, count)
      return world.scatterv(world.rank === root ? own(world, sumOf(counts)) : null, counts, root, options)
    },
  },
  gather: {
    gather: (world, count, options) => world.gather(own(world, count), root, options),
    gatherv: (world, count, options) => world.gatherv(own(world, count + world.rank), root, options),
  },
  allgather: {
    allgather: (world, count, options) => world.allgather(own(world, count), options),
    'allgather of values': (world, count, options) => world.allgather(textOf(world, count), options),
    allgatherv: (world, count, options) => world.allgatherv(own(world, count + world.rank), options),
    allgatherInit: (world, count, options) =>
      startOnce(world.allgatherInit(own(world, count), forAll(world, count), options)),
  },
  alltoall: {
    alltoall: (world, count, options) => world.alltoall(forAll(world, count), options),
    alltoallv: (world, count, options) => {
      const counts = varying(world, count)
      return world.alltoallv(own(world, sumOf(counts)), counts, options)
    },
  },
  reduce: { reduce: (world, count, options) => world.reduce(own(world, count), 'sum', root, options) },
  allreduce: {
    allreduce: (world, count, options) => world.allreduce(own(world, count), 'sum', options),
    'allreduce of doubles': (world, count, options) =>
      world.allreduce(new Float64Array(count / 2), 'sum', { ...options, order: 'any' }),
    allreduceInit: (world, count, options) =>
      startOnce(world.allreduceInit(own(world, count), own(world, count), 'sum', options)),
  },
  'reduce-scatter': {
    reduceScatter: (world, count, options) => world.reduceScatter(forAll(world, count), 'sum', options),
  },
  scan: { scan: (world, count, options) => world.scan(own(world, count), 'sum', options) },
  exscan: { exscan: (world, count, options) => world.exscan(own(world, count), 'sum', options) },
}

async function startOnce(request: PersistentRequest) {
  await request.start()
  request.free()
}

/** Collectives that are called. */
export const countedCollectives: readonly string[] = Object.keys(calls)

/** Bytes of a vector or block: with and without a bcast's head, short and long blocks. */
const sizes = [8, 2048, 32_768, 131_072] as const
const settled = { algorithm: 'barrier-dissemination' } as const

/**
 * Every call at every size, twice, since the first one makes plans: what it and the barrier after it sent. That barrier
 * keeps messages of the next call apart.
 */
export default async function main(world: Communicator, named: NamedAlgorithms = {}): Promise<CallCount[]> {
  const { counters } = world.seat().state.runtime.fabric
  const counts: CallCount[] = []
  for (const bytes of sizes) {
    for (const [collective, forms] of Object.entries(calls)) {
      const options = named[collective] === undefined ? {} : { algorithm: named[collective] }
      for (const [name, call] of Object.entries(forms)) {
        for (const time of ['first', 'again']) {
          await world.barrier(settled)
          const before = { ...counters }
          await call(world, bytes / 4, options)
          await world.barrier(settled)
          counts.push({
            call: `${name} of ${bytes} B, ${time}`,
            frames: counters.framesSent - before.framesSent,
            bytes: counters.bytesSent - before.bytesSent,
          })
        }
      }
    }
  }
  return counts
}
