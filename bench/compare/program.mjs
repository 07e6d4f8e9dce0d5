// The operations that every reshaping of the code has to leave as fast as they were, one per case. A rank
// returns microseconds per operation: the median over batches; the last rank's figure counts.

const batches = 41

/** Median microseconds of one operation; `all` starts a batch together. */
async function median(world, warmUp, perBatch, operation) {
  for (let i = 0; i < warmUp; i++) await operation(i)
  const samples = []
  for (let batch = 0; batch < batches; batch++) {
    await world.barrier()
    const begin = performance.now()
    for (let i = 0; i < perBatch; i++) await operation(i)
    samples.push(((performance.now() - begin) * 1000) / perBatch)
  }
  return samples.sort((a, b) => a - b)[batches >> 1]
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

/** A persistent neighbor allgather of 8 bytes on a periodic 8 x 8 Moore grid of radius 2. */
async function persistentStart(world) {
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
  const send = Float64Array.of(world.rank)
  const received = new Float64Array(neighbors.length)
  const exchange = graph.neighborAllgatherInit(send, received)
  await exchange.start()
  neighbors.forEach((neighbor, slot) => {
    expectEqual(received[slot], neighbor, 'neighbor allgather')
  })
  return median(world, 2_000, 100, () => exchange.start())
}

/** One split of all ranks into 1,000 colors. */
async function split(world) {
  const begin = performance.now()
  const part = await world.split(world.rank % 1000, (world.rank * 7919) % world.size)
  const took = (performance.now() - begin) * 1000
  expectEqual(part.size, world.size / 1000, 'split')
  return took
}

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
  'split of 1,000,000 ranks, 4 logical processes': { main: split, ranks: 1_000_000, processes: 4 },
}

export default (world, name) => cases[name].main(world)
