// Collective calls of a seeded generator: `seeded-calls.mjs ENTRY SEED COUNT` runs them with one build, and prints for
// each the digest of what every rank received, or the code of the error.
import { createHash } from 'node:crypto'
import { pathToFileURL } from 'node:url'

/** Uniform numbers in [0, 1), equal for equal seeds: mulberry32. */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const names = [
  ...['bcast', 'reduce', 'allreduce', 'scan', 'exscan', 'gather', 'gatherv', 'allgather', 'allgatherv'],
  ...['alltoall', 'reduceScatter', 'neighborAllgather', 'neighborAlltoall', 'split'],
]
const arrays = ['Float64Array', 'Float32Array', 'Int32Array', 'Uint8Array', 'BigInt64Array']
const operations = ['sum', 'prod', 'min', 'max', 'band', 'absent']

/** Draws calls as plain data, so that they can be printed. */
export function drawCalls(seed, count) {
  const random = randomFrom(seed + 1)
  const pick = (list) => list[Math.floor(random() * list.length)]
  return Array.from({ length: count }, (_, i) => ({
    name: pick(names),
    array: pick(arrays),
    operation: pick(operations),
    ranks: 1 + Math.floor(random() * 17),
    processes: 1 + Math.floor(random() * 4),
    length: pick([0, 1, 3, 17, 256, 5000]),
    rootShare: random(),
    seed: i,
  }))
}

async function oneCall(world, call) {
  const { name, array, operation, length, rootShare } = call
  const { rank, size } = world
  const random = randomFrom(call.seed * 1000 + rank)
  const type = globalThis[array]
  const value = () => (array === 'BigInt64Array' ? BigInt(Math.floor(random() * 9)) : random() * 9)
  const data = (count) => type.from({ length: count }, value)
  const root = Math.floor(rootShare * size)
  switch (name) {
    case 'bcast':
      return world.bcast(rank === root ? data(length) : null, root)
    case 'reduce':
      return world.reduce(data(length), operation, root)
    case 'allgather':
      return world.allgather(data(length))
    case 'gather':
      return world.gather(data(length), root)
    case 'gatherv':
      return world.gatherv(data(length + rank), root)
    case 'allgatherv':
      return world.allgatherv(data(rank % 3 === 0 ? 0 : length + rank))
    case 'alltoall':
      return world.alltoall(data(length * size))
    case 'reduceScatter':
      return world.reduceScatter(data(length * size), operation)
    case 'neighborAllgather':
    case 'neighborAlltoall': {
      const sources = Array.from({ length: size }, (_, i) => i).filter(
        (i) => (i * 7 + rank * 3 + call.seed) % 4 === 0,
      )
      const destinations = Array.from({ length: size }, (_, i) => i).filter(
        (i) => (rank * 7 + i * 3 + call.seed) % 4 === 0,
      )
      const graph = await world.createDistGraphAdjacent({ sources, destinations })
      return name === 'neighborAllgather'
        ? graph.neighborAllgather(data(length))
        : graph.neighborAlltoall(data(length * destinations.length))
    }
    case 'split': {
      const part = await world.split(Math.floor(random() * 3), Math.floor(random() * 5))
      return [
        part.rank,
        part.size,
        ...(await part.worldRanks(Array.from({ length: part.size }, (_, i) => i))),
      ]
    }
    default:
      return world[name](data(length), operation)
  }
}

const digest = (result) => {
  const hash = createHash('sha256')
  const feed = (each) => {
    if (ArrayBuffer.isView(each)) hash.update(Buffer.from(each.buffer, each.byteOffset, each.byteLength))
    else if (Array.isArray(each)) each.forEach(feed)
    else if (each !== null && typeof each === 'object') Object.values(each).forEach(feed)
    else hash.update(String(each))
    hash.update('|')
  }
  feed(result)
  return hash.digest('hex').slice(0, 16)
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [entry, seed, count] = process.argv.slice(2)
  const { run } = await import(pathToFileURL(entry).href)
  for (const call of drawCalls(Number(seed), Number(count))) {
    const { ranks, processes } = call
    const program = async (world) => digest(await oneCall(world, call))
    try {
      const digests = await run(program, { ranks, processes: Math.min(processes, ranks) })
      console.log(digests.join(' '))
    } catch (error) {
      console.log(`${error.code ?? error.name}: ${error.message}`.replaceAll('\n', ' '))
    }
  }
}
