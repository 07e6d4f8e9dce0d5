// The operations that every reshaping of the code has to leave as fast as they were, one per case. A rank
// returns microseconds per operation: the median over batches, or on a busy machine the least; the last rank's
// figure counts.

const batches = 41
let isBusy = false

/** Microseconds of one operation; all ranks start a batch together. */
async function median(world, warmUp, perBatch, operation) {
  return timed(() => world.barrier(), warmUp, perBatch, operation)
}

async function timed(before, warmUp, perBatch, operation) {
  for (let i = 0; i < warmUp; i++) await operation(i)
  const samples = []
  for (let batch = 0; batch < batches; batch++) {
    await before()
    const begin = performance.now()
    for (let i = 0; i < perBatch; i++) await operation(i)
    samples.push(((performance.now() - begin) * 1000) / perBatch)
  }
  return samples.sort((a, b) => a - b)[isBusy ? 0 : batches >> 1]
}

function expectEqual(got, expected, what) {
  if (got !== expected) throw new Error(`wrong result of ${what}: expected ${expected}, got ${got}`)
}

/** Half the round trip of 8 bytes between two ranks. */
async function pingPong(world) {
  const peer = 1 - world.rank
  const out = Float64Array.of(world.rank + 0.5)
  const into = new Float64Array(1)
  const options = { into }
  const roundTrip = async () => {
    if (world.rank === 0) await world.send(out, peer)
    await world.recv(peer, 0, options)
    if (world.rank === 1) await world.send(out, peer)
  }
  await roundTrip()
  expectEqual(into[0], peer + 0.5, 'ping-pong')
  return (await median(world, 20_000, 1_000, roundTrip)) / 2
}

const barrier = (world) => median(world, 3_000, 100, () => world.barrier())

/**
 * A periodic Moore grid of radius 2, and its neighbor allgather of 8 bytes. The calls are warmed up for long: while V8
 * still compiles, its threads share the cores with two that wait, and the time of a call says nothing.
 */
async function mooreExchange(world) {
  const side = Math.sqrt(world.size)
  const row = Math.floor(world.rank / side)
  const column = world.rank % side
  const neighbors = []
  for (let down = -2; down <= 2; down++) {
    for (let right = -2; right <= 2; right++) {
      if (down === 0 && right === 0) continue
      neighbors.push(((row + down + side) % side) * side + ((column + right + side) % side))
    }
  }
  const graph = await world.createDistGraphAdjacent({ sources: neighbors, destinations: neighbors })
  const into = new Float64Array(neighbors.length)
  const check = () =>
    neighbors.forEach((neighbor, slot) => {
      expectEqual(into[slot], neighbor, 'neighbor allgather')
    })
  return { graph, send: Float64Array.of(world.rank), into, check }
}

async function persistentStart(world) {
  const { graph, send, into, check } = await mooreExchange(world)
  const exchange = graph.neighborAllgatherInit(send, into)
  await exchange.start()
  check()
  return median(world, 100_000, 2_000, () => exchange.start())
}

async function neighborAllgather(world) {
  const { graph, send, into, check } = await mooreExchange(world)
  await graph.neighborAllgather(send, { into })
  check()
  return median(world, 20_000, 500, () => graph.neighborAllgather(send, { into }))
}

/** One split of all ranks into 1,024 colors. */
async function split(world) {
  const begin = performance.now()
  const part = await world.split(world.rank % 1024, (world.rank * 7919) % world.size)
  const took = (performance.now() - begin) * 1000
  expectEqual(part.size, world.size / 1024, 'split')
  return took
}

/** One call of all ranks of a process each. */
const hosted = {
  barrier: (worlds, { together }) =>
    timed(ready, 3_000, 1_000, () => together(worlds, (world) => world.barrier())),
  async numbers(worlds, { together }) {
    const operation = () => together(worlds, (world) => world.allreduce(world.rank, 'sum'))
    const sums = await operation()
    expectEqual(sums[0], (worlds.length * (worlds.length - 1)) / 2, 'allreduce')
    return timed(ready, 3_000, 300, operation)
  },
  async arrays(worlds, { together }) {
    const mine = worlds.map(({ rank }) => Float64Array.of(rank))
    const options = worlds.map(() => ({ into: new Float64Array(1) }))
    const operation = () => together(worlds, (world, k) => world.allreduce(mine[k], 'sum', options[k]))
    await operation()
    expectEqual(options[0].into[0], (worlds.length * (worlds.length - 1)) / 2, 'allreduce')
    return timed(ready, 3_000, 300, operation)
  },
  async split(worlds, { together }) {
    const operation = () =>
      together(worlds, (world) => world.split(world.rank % 256, (world.rank * 7919) % world.size))
    const parts = await operation()
    expectEqual(parts[0].size, worlds.length / 256, 'split')
    return timed(ready, 3, 1, operation)
  },
}

const ready = async () => {}

export const cases = {
  'ping-pong of 8 B, 2 threads': { main: pingPong, ranks: 2, processes: 2, fabric: 'threads' },
  'barrier of 64 ranks, 1 process': { main: barrier, ranks: 64, processes: 1 },
  'barrier of 64 ranks, 2 threads': { main: barrier, ranks: 64, processes: 2, fabric: 'threads' },
  'persistent start of 64 ranks, 1 process': { main: persistentStart, ranks: 64, processes: 1 },
  'persistent start of 64 ranks, 2 threads': {
    main: persistentStart,
    ranks: 64,
    processes: 2,
    fabric: 'threads',
  },
  'blocking neighbor allgather of 64 ranks, 1 process': { main: neighborAllgather, ranks: 64, processes: 1 },
  'blocking neighbor allgather of 64 ranks, 2 threads': {
    main: neighborAllgather,
    ranks: 64,
    processes: 2,
    fabric: 'threads',
  },
  'split of 2^20 ranks, 4 logical processes': { main: split, ranks: 2 ** 20, processes: 4 },
  'together: barrier of 64 ranks': { hosted: hosted.barrier, ranks: 64, processes: 1 },
  'together: allreduce of 64 numbers': { hosted: hosted.numbers, ranks: 64, processes: 1 },
  'together: allreduce of 64 arrays': { hosted: hosted.arrays, ranks: 64, processes: 1 },
  'together: split of 65,536 ranks': { hosted: hosted.split, ranks: 65_536, processes: 1 },
  'plan --strategy auto of 256 ranks': {
    command:
      'plan er:256:d=0.2:seed=1 --strategy auto --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 4',
  },
}

/** The second argument is `busy` for the least of all batches. */
export default (world, [name, busy]) => {
  isBusy = busy === 'busy'
  return cases[name].main(world)
}

/** Of a program that is called once for all ranks of its process. */
export const hostedBy = (library, name, busy) => async (worlds) => {
  isBusy = busy === 'busy'
  const figure = await cases[name].hosted(worlds, library)
  return worlds.map(() => figure)
}
