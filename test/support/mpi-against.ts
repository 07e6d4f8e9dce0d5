// Random communicators and neighborhoods, made by us and by MPI itself in one job; prints how many of them agree.
import { type Communicator, mpi, run, type SplitOptions } from 'rankweave'
import { seededRandom } from '../../src/fabric/random.js'
import { contribution, MpiPeer, type Outcome } from './mpi-peer.js'

interface Case {
  readonly name: string
  ours(world: Communicator): Promise<Outcome>
  theirs(peer: MpiPeer): Outcome
}

const algorithms = ['conventional', 'merging', 'parallel-sort', 'sample-sort', 'minimal'] as const
const [seed, count] = process.argv.slice(2).map(Number) as [number, number]
const factory = mpi()
const session = await factory.open()
const { process: me, processes } = session.job
const cases = Array.from({ length: count }, (_, n) => randomCase(n, seededRandom(seed + n)))

const first: Outcome[] = []
await run(
  async (world: Communicator) => {
    for (const { ours } of cases) first.push(await ours(world))
  },
  { ranks: processes, fabric: factory },
)
// Ours are done everywhere before MPI's own calls, which block, begin.
const peer = new MpiPeer(session.job)
for (const [n, { name, theirs }] of cases.entries()) {
  const [our, their] = [JSON.stringify(first[n]), JSON.stringify(theirs(peer))]
  if (our !== their) throw new Error(`case ${n}, ${name}, rank ${me}: MPI has ${their}, we have ${our}`)
}
await session.close()
if (me === 0) console.log(`${cases.length} cases agree`)

/** The same on all processes. */
function randomCase(n: number, random: () => number): Case {
  const below = (limit: number) => Math.floor(random() * limit)
  if (n % 3 === 0) return splitCase(below)
  return n % 3 === 1 ? cartCase(below) : graphCase(below)
}

function splitCase(below: (limit: number) => number): Case {
  const colors = Array.from({ length: processes }, () => (below(5) === 0 ? null : below(3)))
  const keys = Array.from({ length: processes }, () => below(7) - 3)
  const options = splitOptions(below)
  return {
    name: `split by colors ${colors} and keys ${keys}, ${JSON.stringify(options)}`,
    ours: async (world) => {
      const part = await world.split(colors[me]!, keys[me]!, options)
      if (part === null) return null
      const found = [...(await part.worldRanks(Array.from({ length: part.size }, (_, rank) => rank)))]
      const told = [...(await part.allgather(Int32Array.of(world.rank)))]
      return found.join() === told.join() ? [part.rank, ...told] : [-1, ...found]
    },
    theirs: (mpiPeer) => mpiPeer.split(colors[me]!, keys[me]!),
  }
}

/** Every algorithm with every table it can make. */
function splitOptions(below: (limit: number) => number): SplitOptions {
  const algorithm = algorithms[below(algorithms.length)]!
  if (algorithm === 'conventional' || algorithm === 'merging') return { algorithm }
  return {
    algorithm,
    table: below(3) === 0 ? 'replicated' : 'distributed',
    ...(algorithm === 'minimal' ? {} : { sorters: 1 + below(processes) }),
    tableGroup: 1 + below(processes),
    selfHostRows: below(2) === 0 ? 0 : 2,
  }
}

function cartCase(below: (limit: number) => number): Case {
  const dims: number[] = []
  for (let room = processes; dims.length < 3 && (dims.length === 0 || below(3) > 0); ) {
    const extent = 1 + below(room)
    dims.push(extent)
    room = Math.floor(room / extent)
  }
  const periods = dims.map(() => below(2) === 1)
  return {
    name: `grid ${dims.join('x')}, periodic ${periods}`,
    ours: async (world) => {
      const grid = await world.createCart(dims, { periods })
      if (grid === null) return null
      const shifts = dims.flatMap((_, d) => {
        const { source, dest } = grid.shift(d)
        return [source, dest].map((rank) => (rank < 0 ? -1 : rank))
      })
      const data = await grid.neighborAllgather(Int32Array.from(contribution(grid.rank)))
      return [grid.rank, ...grid.coords(), ...shifts, ...data]
    },
    theirs: (mpiPeer) => mpiPeer.cart(dims, periods),
  }
}

/** Parallel edges and self loops too; both sides list an edge, each in an order of its own. */
function graphCase(below: (limit: number) => number): Case {
  const edges = Array.from(
    { length: below(3 * processes + 1) },
    () => [below(processes), below(processes)] as const,
  )
  const sources = edges.filter(([, to]) => to === me).map(([from]) => from)
  const destinations = edges
    .filter(([from]) => from === me)
    .map(([, to]) => to)
    .reverse()
  const k = 2 + below(2)
  const strategy =
    below(2) === 0
      ? ({ kind: 'direct' } as const)
      : ({ kind: 'common-neighbor', k, mode: 'agnostic' } as const)
  return {
    name: `graph ${edges.join(' ')} by ${strategy.kind}`,
    ours: async (world) => {
      const graph = await world.createDistGraphAdjacent({ sources, destinations, strategy })
      return [...(await graph.neighborAllgather(Int32Array.from(contribution(world.rank))))]
    },
    theirs: (mpiPeer) => mpiPeer.graph(sources, destinations, me),
  }
}
