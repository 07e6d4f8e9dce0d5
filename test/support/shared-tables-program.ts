import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Communicator, TopologyCommunicator } from 'rankweave'
import { buildTopology } from 'rankweave/topology'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

export type SharedTablesCase = 'topology and plan' | 'ranks'

/** Of this process: made once, and the rank that polls and cleans up for all. */
const topology = buildTopology('moore:32x32:r=2')
let looker: number | undefined

/** Every rank returns true: what is large is once in memory, right, and gone after the communicator. */
export default async function main(world: Communicator, part: SharedTablesCase): Promise<boolean> {
  looker ??= world.rank
  const memory = part === 'ranks' ? await reversedRanks(world) : await graph(world)
  await everywhere(world, () => {
    collectGarbage()
    return memory.every((buffer) => buffer.deref() === undefined)
  })
  return true
}

/** A topology and its plan, used before and after they moved; weak references to where they lie. */
async function graph(world: Communicator): Promise<WeakRef<object>[]> {
  const strategy = { kind: 'common-neighbor', k: 4, mode: 'agnostic', theta: 4 } as const
  const comm = await world.createTopology(topology, { strategy })
  await checkExchange(comm)
  const tables = async () => {
    const { schedule } = await comm.plan()
    return [comm.topology.inRank, comm.topology.outStart, schedule.opPeer, schedule.entryBlock]
  }
  await everywhere(world, async () => (await tables()).every(isShared))
  await checkExchange(comm)
  const [inRank] = await tables()
  await checkOnce(world, inRank)
  expectTrue((await comm.plan()).schedule.topology === comm.topology)
  const memory = (await tables()).map(({ buffer }) => new WeakRef(buffer))
  await comm.free()
  return memory
}

/** A communicator whose rank table has to be spelled out. */
async function reversedRanks(world: Communicator): Promise<WeakRef<object>[]> {
  const { size, rank } = world
  // Odd ranks first: no progression.
  const comm = await world.split(0, rank % 2 === 1 ? rank - size : rank)
  const place = (at: number) => (at % 2 === 1 ? (at - 1) / 2 : size / 2 + at / 2)
  expectTrue(comm !== null && comm.rank === place(rank))
  // A sum in rank order needs to know where all ranks are.
  const [before] = (await comm.exscan(Int32Array.of(1), 'sum')) ?? [0]
  expectTrue(before === comm.rank)
  const { state } = comm.seat()
  const spelledOut = () => (state.table as { worldRanks: Int32Array }).worldRanks
  await everywhere(world, () => isShared(spelledOut()))
  await checkOnce(world, spelledOut())
  const [after] = (await comm.exscan(Int32Array.of(1), 'sum')) ?? [0]
  expectTrue(after === comm.rank && spelledOut()[place(rank)] === rank)
  const memory = [new WeakRef(spelledOut().buffer), new WeakRef(state.processes.runStart.buffer)]
  await comm.free()
  return memory
}

async function checkExchange(comm: TopologyCommunicator): Promise<void> {
  const blocks = await comm.neighborAllgather(Int32Array.of(comm.rank))
  expectTrue(comm.sources.every((source, slot) => blocks[slot] === source))
}

/** What one process writes all others read: it is the same memory. */
async function checkOnce(world: Communicator, table: Int32Array): Promise<void> {
  const kept = table[0]
  await world.barrier()
  if (world.rank === world.size - 1) table[0] = -7
  await world.barrier()
  expectTrue(table[0] === -7)
  await world.barrier()
  if (world.rank === world.size - 1) table[0] = kept
  await world.barrier()
}

const isShared = ({ buffer }: Int32Array) => buffer instanceof SharedArrayBuffer

/**
 * One rank of each process polls, between turns of the event loop, until the condition holds on every
 * process.
 */
async function everywhere(world: Communicator, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const looks = world.rank === looker
  for (;;) {
    const [all] = await world.allreduce(Int32Array.of(!looks || (await isSo()) ? 1 : 0), 'min')
    if (all === 1) return
    if (looks) await new Promise((resolve) => setImmediate(resolve))
  }
}

function expectTrue(holds: boolean): void {
  if (!holds) throw new Error('wrong result')
}
