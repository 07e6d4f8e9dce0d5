import type { Communicator } from '../comm/communicator.js'
import { waitall } from '../messages/p2p/request.js'
import { concatenatedBlocks, elements, ranksOf, same } from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

/** What a rank contributes to a reduction of integers, and their sum over the ranks below `ranks`. */
const term = (rank: number, i: number, start: number) => rank * 31 + i + start
const sum = (ranks: number, i: number, start: number) => (31 * ranks * (ranks - 1)) / 2 + ranks * (i + start)

const integers = (length: number, at: (i: number) => number) => Int32Array.from({ length }, (_, i) => at(i))

/** Elements. */
const lengths = [3, 300]

/**
 * Collectives and messages are started together and waited for in one wait, on the world and on its ranks
 * reversed.
 */
async function checkStarted(world: Communicator): Promise<void> {
  for (const comm of [world, await world.split(0, -world.rank)]) {
    const { rank, size } = comm
    for (const length of lengths) {
      const root = size - 1
      const mine = integers(length, (i) => term(rank, i, 0))
      const block = (src: number, dest: number) => elements(Int16Array, length, src, dest, 3)
      const out = concatenatedBlocks(
        Int16Array,
        ranksOf(comm).map((dest) => block(rank, dest)),
      )
      const requests = [
        comm.iallreduce(mine, 'sum'),
        comm.isend(mine, (rank + 1) % size, 5),
        comm.ibcast(rank === root ? mine : null, root),
        comm.irecv((rank + size - 1) % size, 5, { into: new Int32Array(length) }),
        comm.ialltoall(out),
        comm.iscan(rank + 1, 'sum'),
        comm.ibarrier(),
      ] as const
      const [total, , data, message, exchanged, prefix] = await waitall(requests)
      same(
        total,
        integers(length, (i) => sum(size, i, 0)),
        'iallreduce',
      )
      same(
        data,
        integers(length, (i) => term(root, i, 0)),
        'ibcast',
      )
      same(
        message.data,
        integers(length, (i) => term((rank + size - 1) % size, i, 0)),
        'irecv',
      )
      const back = ranksOf(comm).map((src) => block(src, rank))
      same(exchanged, concatenatedBlocks(Int16Array, back), 'ialltoall')
      same(prefix, ((rank + 1) * (rank + 2)) / 2, 'iscan')
    }
    if (comm !== world) await comm.free()
  }
}

/** All persistent collectives are bound, and then started together with new data. */
async function checkPersistent(world: Communicator): Promise<void> {
  const { rank, size } = world
  const root = size - 1
  const isRoot = rank === root
  for (const length of lengths) {
    const mine = new Int32Array(length)
    const all = new Int32Array(3 * size)
    const few = mine.subarray(0, 3)
    const shared = new Int32Array(length)
    const own = {
      total: new Int32Array(length),
      rooted: new Int32Array(length),
      prefix: new Int32Array(length),
      before: new Int32Array(length),
      part: new Int32Array(3),
      scattered: new Int32Array(3),
      gathered: new Int32Array(3 * size),
      everywhere: new Int32Array(length * size),
      exchanged: new Int32Array(3 * size),
    }
    const requests = [
      world.allreduceInit(mine, own.total, 'sum'),
      world.reduceInit(mine, isRoot ? own.rooted : null, 'sum', root),
      world.scanInit(mine, own.prefix, 'sum'),
      world.exscanInit(mine, own.before, 'sum'),
      world.reduceScatterInit(all, own.part, 'sum'),
      world.scatterInit(isRoot ? all : null, own.scattered, root),
      world.gatherInit(few, isRoot ? own.gathered : null, root),
      world.allgatherInit(mine, own.everywhere),
      world.alltoallInit(all, own.exchanged),
      world.bcastInit(shared, root),
      world.barrierInit(),
    ]
    for (let start = 0; start < 3; start++) {
      for (let i = 0; i < length; i++) mine[i] = term(rank, i, start)
      for (let i = 0; i < all.length; i++) all[i] = term(rank, i, start)
      shared.set(isRoot ? mine : own.before)
      await Promise.all(requests.map((request) => request.start()))
      const fills: readonly (readonly [string, Int32Array, (i: number) => number])[] = [
        ['allreduceInit', own.total, (i) => sum(size, i, start)],
        ['reduceInit', own.rooted, (i) => (isRoot ? sum(size, i, start) : 0)],
        ['scanInit', own.prefix, (i) => sum(rank + 1, i, start)],
        ['exscanInit', own.before, (i) => sum(rank, i, start)],
        ['reduceScatterInit', own.part, (i) => sum(size, 3 * rank + i, start)],
        ['scatterInit', own.scattered, (i) => term(root, 3 * rank + i, start)],
        ['gatherInit', own.gathered, (i) => (isRoot ? term(Math.floor(i / 3), i % 3, start) : 0)],
        ['allgatherInit', own.everywhere, (i) => term(Math.floor(i / length), i % length, start)],
        ['alltoallInit', own.exchanged, (i) => term(Math.floor(i / 3), 3 * rank + (i % 3), start)],
        ['bcastInit', shared, (i) => term(root, i, start)],
      ]
      for (const [name, got, at] of fills) same(got, integers(got.length, at), `start ${start} of ${name}`)
    }
    for (const request of requests) request.free()
  }
}

/** With all messages sent at once, and with those of 300 elements offered. */
const settings = [{}, { eagerLimitBytes: 1000, creditBytes: 100 }]

export const formChecks: readonly WorldCase[] = [
  {
    name: 'collectives that are started are waited for together with messages',
    settings,
    check: checkStarted,
  },
  {
    name: 'persistent collectives read and fill their buffers at every start',
    settings,
    check: checkPersistent,
  },
]
