import type { Communicator } from 'rankweave'
import { expectClose, type Program, sharesOf } from '../program.js'

const count = 10_000

/** The smallest task. */
export function square(x: number): number {
  return x * x
}

const squares = (of: number) => Array.from({ length: of }, (_, x) => square(x))

/** Every worker answers once: with it starts and ends of workers are timed. */
export const answers: Program = {
  loops: 0,
  plain: () => () => squares(1),
  inPool: (pool, parts) => () =>
    Promise.all(Array.from({ length: parts }, (_, x) => pool.run<number>('square', x))),
  onRanks: async (world) => () => world.gather(Float64Array.of(square(world.rank))),
  check: (result) => expectClose(result, squares(result.length)),
}

const inPool: Program['inPool'] = (pool) => () =>
  Promise.all(Array.from({ length: count }, (_, x) => pool.run<number>('square', x)))

/** Small tasks that ranks divide beforehand: a pool has no call for this. */
export const dividedTasks: Program = {
  loops: 3,
  plain: () => () => squares(count),
  inPool,
  onRanks: async (world) => async () => {
    const { begin, end } = sharesOf(count, world.size)[world.rank]
    const gathered = await world.gatherv(
      Float64Array.from({ length: end - begin }, (_, at) => square(begin + at)),
    )
    return gathered === null ? null : gathered.data
  },
  check: (result) => expectClose(result, squares(count)),
}

/** The same tasks, each handed out by rank 0 when another rank has finished one. */
export const handedOutTasks: Program = {
  ...dividedTasks,
  onRanks: async (world) => () => (world.rank === 0 ? handOut(world) : work(world)),
}

/** The task after which a rank ends. */
const none = -1

async function handOut(world: Communicator): Promise<Float64Array> {
  const results = new Float64Array(count)
  const working = new Int32Array(world.size).fill(none)
  let next = 0
  for (let busy = world.size - 1; busy > 0; ) {
    const { data, source } = await world.recv<Float64Array>()
    if (working[source] !== none) results[working[source]] = data[0]
    working[source] = next < count ? next++ : none
    if (working[source] === none) busy--
    await world.send(Int32Array.of(working[source]), source)
  }
  return results
}

async function work(world: Communicator): Promise<null> {
  const task = new Int32Array(1)
  let result = 0
  for (;;) {
    await world.send(Float64Array.of(result), 0)
    await world.recv(0, 0, { into: task })
    if (task[0] === none) return null
    result = square(task[0])
  }
}
