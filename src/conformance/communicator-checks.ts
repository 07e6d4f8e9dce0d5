import type { Communicator } from '../handles/communicator.js'
import { waitall } from '../messages/p2p/request.js'
import { type Draw, drawn, ranksOf, refused, same, shuffled } from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

export const communicatorChecks: readonly WorldCase[] = [
  {
    name: 'split groups ranks by color and orders them by key, also on the result of a split',
    async check(world, { seed, rounds }) {
      for (let round = 0; round < rounds; round++) await splitTwice(world, drawn(seed, round))
    },
  },
  {
    name: 'group, create, dup, splitType and compare are consistent',
    async check(world, { seed }) {
      const { rank, size } = world
      const pick = drawn(seed, 5)
      const order = shuffled(ranksOf(world), pick)
      const members = order.slice(0, 1 + pick(size))
      const allRanks = await world.group()
      const created = await world.create(allRanks.incl(members))
      same(created?.rank ?? null, members.includes(rank) ? members.indexOf(rank) : null, 'rank in a group')
      const ranks = await allRanks.translate(ranksOf(world), allRanks)
      same(ranks, ranksOf(world), 'translate into the same group')
      if (created !== null) {
        same([...(await created.allgather(Int32Array.of(rank)))], members, 'members of a group')
        const sameOrder = size === members.length && order.every((r, n) => r === n)
        const comparison = size !== members.length ? 'unequal' : sameOrder ? 'congruent' : 'similar'
        same(await world.compare(created), comparison, 'compare with a created communicator')
        await created.free()
      }
      const twin = await world.dup()
      same([await world.compare(twin), await world.compare(world)], ['congruent', 'ident'], 'compare')
      const near = await world.splitType('node')
      const nodes = await world.allgather(Int32Array.of(world.location.node))
      same(near.size, nodes.filter((node) => node === world.location.node).length, 'ranks of a node')
      await Promise.all([twin.free(), near.free()])
    },
  },
  {
    name: 'random splits, duplicates and frees with messages in all of them leak no context',
    async check(world, { seed, rounds }) {
      const { contexts } = world.seat().state.runtime
      await world.barrier()
      const before = [...contexts].length
      for (let round = 0; round < 4 * rounds; round++) await storm(world, drawn(seed, round, 9))
      await world.barrier()
      same([...contexts].length <= before, true, 'no context leaked')
    },
  },
  {
    name: 'a collective that one rank aborts fails on every rank and revokes only its communicator',
    async check(world) {
      const comm = await world.dup()
      const last = comm.rank === comm.size - 1
      const stop = new AbortController()
      if (comm.size > 1) {
        // Rank 0 never calls it: the others wait until the last one aborts.
        const waiting = comm.rank === 0 ? comm.recv(0, 1) : comm.barrier(last ? { signal: stop.signal } : {})
        setImmediate(() => stop.abort())
        await refused(waiting, 'an aborted collective', last ? 'ERR_ABORTED' : 'ERR_REVOKED')
      } else {
        await refused(comm.barrier({ signal: AbortSignal.abort() }), 'an aborted barrier', 'ERR_ABORTED')
      }
      await refused(
        Promise.resolve().then(() => comm.barrier()),
        'a collective on a revoked communicator',
        'ERR_REVOKED',
        'ERR_ABORTED',
      )
      same(await world.allreduce(Int32Array.of(1), 'sum'), Int32Array.of(world.size), 'another communicator')
    },
  },
  {
    name: 'mismatched collectives are detected and fail only their communicator',
    async check(world) {
      if (world.size === 1) return
      const comm = await world.dup()
      const call = comm.rank === 0 ? comm.barrier() : comm.allreduce(Int32Array.of(1), 'sum')
      await refused(call, 'mismatched collectives', 'ERR_COLLECTIVE_MISMATCH')
      same(await world.allreduce(Int32Array.of(1), 'sum'), Int32Array.of(world.size), 'another communicator')
    },
  },
]

interface Row {
  readonly color: number | null
  readonly key: number
}

function drawRows(ranks: number, pick: Draw): readonly Row[] {
  const colors = [1, 2, ranks + 1, 2 ** 31][pick(4)]
  const keys = [1, 3, 2 ** 32][pick(3)]
  return Array.from({ length: ranks }, () => ({
    color: pick(8) === 0 ? null : pick(colors),
    key: (pick(keys) - Math.floor(keys / 2)) | 0,
  }))
}

/** Returns the ranks with the color of one rank, in their new order, by MPI's definition. */
function groupOf(rows: readonly Row[], rank: number): readonly number[] {
  return [...rows.keys()]
    .filter((other) => rows[other].color === rows[rank].color)
    .sort((a, b) => rows[a].key - rows[b].key || a - b)
}

async function splitTwice(world: Communicator, pick: Draw): Promise<void> {
  const rows = drawRows(world.size, pick)
  const { color, key } = rows[world.rank]
  const part = await world.split(color, key)
  // All ranks draw the same rows, members or not.
  const inner = drawRows(world.size, pick)
  same(part === null, color === null, 'membership')
  if (part === null) return
  const members = groupOf(rows, world.rank)
  await sameMembers(part, members, world)
  const innerRows = inner.slice(0, part.size)
  const again = await part.split(innerRows[part.rank].color, innerRows[part.rank].key)
  await part.free()
  same(again === null, innerRows[part.rank].color === null, 'membership in the second split')
  if (again === null) return
  const expected = groupOf(innerRows, part.rank).map((rank) => members[rank])
  await sameMembers(again, expected, world)
  await again.free()
}

/** @param members their ranks in the world */
async function sameMembers(
  comm: Communicator,
  members: readonly number[],
  world: Communicator,
): Promise<void> {
  same(comm.size, members.length, 'size of a split')
  same(comm.rank, members.indexOf(world.rank), 'rank in a split')
  same([...(await comm.allgather(Int32Array.of(world.rank)))], [...members], 'members of a split')
  const [group, whole] = [await comm.group(), await world.group()]
  same(await group.translate(ranksOf(comm), whole), [...members], 'members of its group')
}

/** Makes several communicators, exchanges messages in all of them at once, and frees them in any order. */
async function storm(world: Communicator, pick: Draw): Promise<void> {
  const made: Communicator[] = []
  for (let n = 0; n < 4; n++) {
    const of = [world, ...made][pick(n + 1)]
    if (pick(3) === 0) {
      made.push(await of.dup())
      continue
    }
    const rows = Array.from({ length: world.size }, () => ({ color: pick(2), key: pick(5) }))
    const { color, key } = rows[of.rank]
    made.push(await of.split(color, key))
  }
  const exchanges = made.map(async (comm, n) => {
    const [to, from] = [(comm.rank + 1) % comm.size, (comm.rank + comm.size - 1) % comm.size]
    const sending = comm.isend(Int32Array.of(n, comm.rank), to, 1)
    same((await comm.recv()).data, Int32Array.of(n, from), `message in communicator ${n}`)
    await waitall([sending])
  })
  await Promise.all(exchanges)
  // Every rank frees in the same order, as for every collective.
  const frees = shuffled([...made.keys()], pick).map((n) => made[n])
  if (pick(2) === 0) await Promise.all(frees.map((comm) => comm.free()))
  else for (const comm of frees) await comm.free()
}
