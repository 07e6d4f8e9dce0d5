// Every collective call, with arrays to receive into.
import type { Communicator } from 'rankweave'
import { type Effort, expectEqual, type IsolatedEffort, timed, timedIsolated } from './timing.js'

export interface CallCase extends Effort {
  readonly key: string
  readonly call: CallName
  /** Of what MPI's count describes: a vector, or the block of a rank. */
  readonly bytes: number
  /** To time the call by itself, too, and the key of that. */
  readonly isolated?: IsolatedEffort & { readonly key: string }
}

export type CallName =
  | 'barrier'
  | 'bcast'
  | 'scatter'
  | 'gather'
  | 'allgather'
  | 'alltoall'
  | 'reduce'
  | 'allreduce'
  | 'reduceScatter'
  | 'scan'
  | 'exscan'

/** Microseconds by key. */
export default async function main(world: Communicator, cases: readonly CallCase[]) {
  const figures: Record<string, number> = {}
  for (const one of cases) figures[one.key] = await timed(world, repeated(await checked(world, one)), one)
  // The second pass counts: in the first, code of calls by themselves is compiled.
  for (const _ of ['compiles', 'counts'])
    for (const one of cases) {
      const { isolated } = one
      if (isolated === undefined) continue
      figures[isolated.key] = await timedIsolated(world, await checked(world, one), isolated)
    }
  return figures
}

/** A call, and the first and last element that it gives this rank; none where it gets nothing. */
interface Call {
  readonly run: () => Promise<unknown>
  readonly into: Float64Array
  readonly expected?: readonly [first: number, last: number]
}

function repeated(call: Call['run']): (iterations: number) => Promise<void> {
  return async (iterations) => {
    for (let i = 0; i < iterations; i++) await call()
  }
}

async function checked(world: Communicator, { call, bytes, key }: CallCase): Promise<Call['run']> {
  const { run, into, expected } = callOf(world, call, bytes / 8)
  into.fill(Number.NaN)
  await run()
  if (expected !== undefined) {
    expectEqual(into[0], expected[0], `${key}, first element`)
    expectEqual(into[into.length - 1], expected[1], `${key}, last element`)
  }
  return run
}

/** Rank r contributes r + 1, and to every rank the same. */
function callOf(world: Communicator, call: CallName, count: number): Call {
  const { rank, size } = world
  const isRoot = rank === 0
  const mine = new Float64Array(count).fill(rank + 1)
  const one = new Float64Array(count)
  const allMine = (): Float64Array => new Float64Array(count * size).fill(rank + 1)
  const all = (): Float64Array => new Float64Array(count * size)
  const sumTo = (last: number): number => (last * (last + 1)) / 2
  const total = sumTo(size)
  switch (call) {
    case 'barrier':
      return { run: () => world.barrier(), into: one }
    case 'bcast': {
      const run = () =>
        isRoot ? world.bcast(mine) : world.bcast<Float64Array, Float64Array>(null, 0, { into: one })
      return { run, into: one, ...(isRoot ? {} : { expected: [1, 1] }) }
    }
    case 'scatter': {
      const data = isRoot ? allMine() : null
      return { run: () => world.scatter(data, 0, { into: one }), into: one, expected: [1, 1] }
    }
    case 'gather': {
      if (!isRoot) return { run: () => world.gather(mine), into: one }
      const into = all()
      return { run: () => world.gather(mine, 0, { into }), into, expected: [1, size] }
    }
    case 'allgather': {
      const into = all()
      return { run: () => world.allgather(mine, { into }), into, expected: [1, size] }
    }
    case 'alltoall': {
      const [data, into] = [allMine(), all()]
      return { run: () => world.alltoall(data, { into }), into, expected: [1, size] }
    }
    case 'reduce': {
      if (!isRoot) return { run: () => world.reduce(mine, 'sum'), into: one }
      return { run: () => world.reduce(mine, 'sum', 0, { into: one }), into: one, expected: [total, total] }
    }
    case 'allreduce':
      return { run: () => world.allreduce(mine, 'sum', { into: one }), into: one, expected: [total, total] }
    case 'reduceScatter': {
      const data = allMine()
      return {
        run: () => world.reduceScatter(data, 'sum', { into: one }),
        into: one,
        expected: [total, total],
      }
    }
    case 'scan': {
      const sum = sumTo(rank + 1)
      return { run: () => world.scan(mine, 'sum', { into: one }), into: one, expected: [sum, sum] }
    }
    case 'exscan': {
      const sum = sumTo(rank)
      const expected = isRoot ? {} : ({ expected: [sum, sum] } as const)
      return { run: () => world.exscan(mine, 'sum', { into: one }), into: one, ...expected }
    }
  }
}
