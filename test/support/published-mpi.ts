// A world on MPI whose neighbors read each other's blocks in shared memory: many calls on random directed
// graphs, then one that not all ranks start. Prints what rank 0 has found.
import { mulberry32 } from '../../src/base/random.js'
import { type Communicator, isRankweaveError, mpi, run } from '../../src/entry/index.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import type { AllgatherInitOptions } from '../../src/topology-communicator/collectives/neighbor-allgather.js'

const ranks = 6
const calls = 40

function randomGraph(seed: number) {
  const random = mulberry32(seed)
  const edges = Array.from({ length: 14 }, () => [random() % ranks, random() % ranks] as const)
  return topologyFromEdges(ranks, {
    sources: edges.map(([source]) => source),
    destinations: edges.map(([, destination]) => destination),
    weights: null,
  })
}

const numberOf = (source: number, call: number, i: number) => 1000 * source + 10 * call + i

/** Frames that all processes send in ten starts of a request with these options. */
async function framesOf(world: Communicator, options: AllgatherInitOptions, length: number): Promise<number> {
  const comm = await world.createTopology(randomGraph(5), { strategy: { kind: 'direct' } })
  const recv = new Uint8Array(length * comm.sources.length)
  const request = comm.neighborAllgatherInit(new Uint8Array(length), recv, options)
  await request.start()
  await world.barrier()
  const { processCounters } = world.seat().state.runtime
  const before = processCounters.framesSent
  for (let call = 0; call < 10; call++) await request.start()
  const sent = processCounters.framesSent - before
  await world.barrier()
  const isFirst = world.seat().localIndex === 0
  const all = await world.allreduce(Float64Array.of(isFirst ? sent : 0), 'sum')
  await comm.free()
  return all[0]
}

async function main(world: Communicator) {
  const frames = [
    await framesOf(world, {}, 100),
    await framesOf(world, {}, 16_385),
    await framesOf(world, { sharedMemory: false }, 100),
  ]
  const isCrowded = world.seat().state.runtime.fabric.isOversubscribed === true
  if (world.rank === 0) console.log(JSON.stringify({ isCrowded, frames }))
  const report = { differing: 0, framesInCalls: 0 }
  for (let seed = 1; seed <= 3; seed++) {
    const comm = await world.createTopology(randomGraph(seed), { strategy: { kind: 'direct' } })
    const length = 3 * seed
    const send = new Float64Array(length)
    const recv = new Float64Array(length * comm.sources.length)
    const request = comm.neighborAllgatherInit(send, recv, { sharedMemory: true })
    await request.start()
    await world.barrier()
    const counters = world.seat().state.runtime.processCounters
    const before = counters.framesSent
    for (let call = 0; call < calls; call++) {
      send.forEach((_, i) => {
        send[i] = numberOf(comm.rank, call, i)
      })
      await request.start()
      for (const [slot, source] of comm.sources.entries())
        for (let i = 0; i < length; i++)
          if (recv[slot * length + i] !== numberOf(source, call, i)) report.differing++
    }
    report.framesInCalls += counters.framesSent - before
    await world.barrier()
    request.free()
    await comm.free()
  }
  const sums = await world.allreduce(Float64Array.of(report.differing, report.framesInCalls), 'sum')
  if (world.rank === 0) console.log(JSON.stringify({ differing: sums[0], framesInCalls: sums[1] }))
  const ring = topologyFromEdges(ranks, {
    sources: Array.from({ length: ranks }, (_, rank) => rank),
    destinations: Array.from({ length: ranks }, (_, rank) => (rank + 1) % ranks),
    weights: null,
  })
  const comm = await world.createTopology(ring, { strategy: { kind: 'direct' } })
  const request = comm.neighborAllgatherInit(new Int32Array(1), new Int32Array(1), { sharedMemory: true })
  await request.start()
  if (comm.rank < ranks - 1) await request.start()
  else await world.recv(0)
}

const factory = mpi()
const session = await factory.open()
try {
  await run(main, { ranks, fabric: factory })
} catch (error) {
  if (session.job.process === 0 && isRankweaveError(error)) console.log(`${error.code}: ${error.message}`)
}
await session.close()
