import type { Communicator } from 'rankweave'

/** How many calls, and of which seed the communicators are. */
export interface OnlineProgramArgs {
  readonly calls: number
  readonly seed: number
}

/**
 * Calls collectives on random sub-communicators of the world, each of which is a random part of it, and checks every
 * result. All ranks draw alike. At most ten times the world is divided, since each part gets half of what is left of the
 * calls that are tuned.
 *
 * @returns calls of this rank
 */
export default async function onlineCalls(
  world: Communicator,
  { calls, seed }: OnlineProgramArgs,
): Promise<number> {
  let state = seed | 1
  const draw = (below: number): number => {
    state = Math.imul(state, 1_103_515_245) + 12_345
    return ((state >>> 8) & 0xffff) % below
  }
  const callsOfPart = Math.max(40, Math.ceil(calls / 10))
  let made = 0
  while (made < calls) {
    const colors = Array.from({ length: world.size }, () => draw(3))
    const part = await world.split(colors[world.rank])
    for (let i = 0; i < callsOfPart && made < calls; i++, made++)
      await called(part!, draw(4), 1 + draw(5) ** 4, i, draw(64))
    part!.free()
  }
  return made
}

async function called(
  comm: Communicator,
  kind: number,
  count: number,
  salt: number,
  drawn: number,
): Promise<void> {
  const { rank, size } = comm
  const root = drawn % size
  if (kind === 0) {
    const sums = await comm.allreduce(
      Int32Array.from({ length: count }, (_, k) => rank + k + salt),
      'sum',
    )
    for (const [k, sum] of sums.entries())
      expectSame(sum, (size * (size - 1)) / 2 + size * (k + salt), 'allreduce')
  } else if (kind === 1) {
    const own = rank === root ? Float64Array.from({ length: count }, (_, k) => k + salt) : null
    const got = (await comm.bcast(own, root)) as Float64Array
    expectSame(got.length, count, 'bcast')
    for (const [k, value] of got.entries()) expectSame(value, k + salt, 'bcast')
  } else if (kind === 2) {
    const all = (await comm.allgather(
      Int32Array.from({ length: count }, (_, k) => rank * 1000 + k),
    )) as Int32Array
    for (const [at, value] of all.entries())
      expectSame(value, Math.floor(at / count) * 1000 + (at % count), 'allgather')
  } else {
    const sent = Int32Array.from({ length: size * count }, (_, at) => rank * 1000 + Math.floor(at / count))
    const got = (await comm.alltoall(sent)) as Int32Array
    for (const [at, value] of got.entries())
      expectSame(value, Math.floor(at / count) * 1000 + rank, 'alltoall')
  }
}

function expectSame(got: number, expected: number, what: string): void {
  if (got !== expected) throw new Error(`${what}: expected ${expected}, got ${got}`)
}
