// Random communicators and neighborhoods, made by us and by MPI itself in one job; prints how many of them
// agree.
import { type Communicator, mpi, run, type SplitOptions, type TopologyCommunicator } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import { seededRandom } from '../../src/base/random.js'
import { contribution, inOrderOfRanks, MpiPeer, type Outcome, variedContribution } from './mpi-peer.js'

interface Case {
  readonly name: string
  ours(world: Communicator): Promise<Outcome>
  theirs(peer: MpiPeer): Outcome
}

/** Every algorithm with every table it can make. */
const kinds: readonly SplitOptions[] = [
  { algorithm: 'conventional' },
  { algorithm: 'merging' },
  ...(['parallel-sort', 'sample-sort', 'minimal'] as const).flatMap((algorithm) =>
    (['replicated', 'distributed'] as const).map((table) => ({ algorithm, table })),
  ),
]

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
  const below: Below = (limit) => Math.floor(random() * limit)
  return [splitCase, cartCase, adjacentCase, graphCase][n % 4](below, Math.floor(n / 4))
}

function splitCase(below: Below, nth: number): Case {
  const colors = Array.from({ length: processes }, () => (below(5) === 0 ? null : below(3)))
  const keys = Array.from({ length: processes }, () => below(7) - 3)
  const options = splitOptions(below, nth)
  return {
    name: `split by colors ${colors} and keys ${keys}, ${JSON.stringify(options)}`,
    ours: async (world) => {
      const part = await world.split(colors[me]!, keys[me], options)
      if (part === null) return null
      const found = [...(await part.worldRanks(Array.from({ length: part.size }, (_, rank) => rank)))]
      const told = [...(await part.allgather(Int32Array.of(world.rank)))]
      return found.join() === told.join() ? [part.rank, ...told] : [-1, ...found]
    },
    theirs: (mpiPeer) => mpiPeer.split(colors[me]!, keys[me]),
  }
}

/** All kinds in turn. */
function splitOptions(below: Below, nth: number): SplitOptions {
  const kind = kinds[nth % kinds.length]
  if (kind.table === undefined) return kind
  return {
    ...kind,
    ...(kind.algorithm === 'minimal' ? {} : { sorters: 1 + below(processes) }),
    tableGroup: 1 + below(processes),
    selfHostRows: below(2) === 0 ? 0 : 2,
  }
}

function cartCase(below: Below): Case {
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

type Below = (limit: number) => number

/** Parallel edges and self loops too. */
function randomEdges(below: Below): (readonly [number, number])[] {
  return Array.from({ length: below(3 * processes + 1) }, () => [below(processes), below(processes)] as const)
}

function randomStrategy(below: Below): Strategy {
  const k = 2 + below(2)
  return below(2) === 0 ? { kind: 'direct' } : { kind: 'common-neighbor', k, mode: 'agnostic' }
}

/** What the neighbors of a rank contribute, in blocks of one length and of several. */
async function gathered(graph: TopologyCommunicator) {
  const data = await graph.neighborAllgather(Int32Array.from(contribution(graph.rank)))
  const varied = await graph.neighborAllgatherv(Int32Array.from(variedContribution(graph.rank)))
  return { data: [...data], varied: [...varied.data] }
}

/** Both sides list an edge, each in its own order. */
function adjacentCase(below: Below): Case {
  const edges = randomEdges(below)
  const sources = edges.filter(([, to]) => to === me).map(([from]) => from)
  const destinations = edges
    .filter(([from]) => from === me)
    .map(([, to]) => to)
    .reverse()
  const strategy = randomStrategy(below)
  return {
    name: `neighbors by ${edges.join(' ')} by ${strategy.kind}`,
    ours: async (world) => {
      const graph = await world.createDistGraphAdjacent({ sources, destinations, strategy })
      const { data, varied } = await gathered(graph)
      return [...data, ...varied]
    },
    theirs: (mpiPeer) => mpiPeer.adjacent(sources, destinations, me),
  }
}

/** Any rank names an edge, and some name none. */
function graphCase(below: Below): Case {
  const named = randomEdges(below).map((edge) => ({ edge, by: below(processes) }))
  const mine = named.filter(({ by }) => by === me).map(({ edge }) => edge)
  const sources = [...new Set(mine.map(([from]) => from))]
  const lists = sources.map((source) => mine.filter(([from]) => from === source).map(([, to]) => to))
  const degrees = lists.map(({ length }) => length)
  const strategy = randomStrategy(below)
  return {
    name: `graph ${named.map(({ edge, by }) => `${edge}@${by}`).join(' ')} by ${strategy.kind}`,
    ours: async (world) => {
      const graph = await world.createDistGraph({ sources, degrees, destinations: lists.flat(), strategy })
      const { data, varied } = await gathered(graph)
      return inOrderOfRanks([...graph.sources], [...graph.destinations], data, varied)
    },
    theirs: (mpiPeer) => mpiPeer.graph(sources, degrees, lists.flat(), me),
  }
}
