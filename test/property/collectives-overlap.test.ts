import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/base/bytes.js'

type Into = { readonly into: Float64Array }

interface Case {
  /** Elements of what a rank passes, and of what it gets, for blocks of `block` elements. */
  readonly passed: (size: number, block: number) => number
  readonly got: (size: number, block: number) => number
  readonly call: (world: Communicator, data: Float64Array, options: Into) => Promise<unknown>
}

const one = (_: number, block: number) => block
const all = (size: number, block: number) => size * block
const root = 1

const cases: Record<string, Case> = {
  gather: { passed: one, got: all, call: (world, data, options) => world.gather(data, root, options) },
  gatherv: { passed: one, got: all, call: (world, data, options) => world.gatherv(data, root, options) },
  allgather: { passed: one, got: all, call: (world, data, options) => world.allgather(data, options) },
  allgatherv: { passed: one, got: all, call: (world, data, options) => world.allgatherv(data, options) },
  scatter: {
    passed: all,
    got: one,
    call: (world, data, options) => world.scatter(world.rank === root ? data : null, root, options),
  },
  alltoall: { passed: all, got: all, call: (world, data, options) => world.alltoall(data, options) },
  alltoallv: {
    passed: all,
    got: all,
    call: (world, data, options) =>
      world.alltoallv(data, new Int32Array(world.size).fill(data.length / world.size), options),
  },
  reduce: { passed: one, got: one, call: (world, data, options) => world.reduce(data, 'sum', root, options) },
  allreduce: { passed: one, got: one, call: (world, data, options) => world.allreduce(data, 'sum', options) },
  reduceScatter: {
    passed: all,
    got: one,
    call: (world, data, options) => world.reduceScatter(data, 'sum', options),
  },
  scan: { passed: one, got: one, call: (world, data, options) => world.scan(data, 'sum', options) },
  exscan: { passed: one, got: one, call: (world, data, options) => world.exscan(data, 'sum', options) },
}

const elementOf = (rank: number, index: number) => rank * 1000 + (index % 997)

async function resultOf(
  { passed, got, call }: Case,
  world: Communicator,
  block: number,
  offset: number | null,
): Promise<Uint8Array> {
  const length = passed(world.size, block)
  const space = new Float64Array(length + 2 * got(world.size, block))
  const start = got(world.size, block)
  const data = space.subarray(start, start + length)
  for (let i = 0; i < length; i++) data[i] = elementOf(world.rank, i)
  const intoLength = got(world.size, block)
  const into =
    offset === null
      ? new Float64Array(intoLength)
      : space.subarray(start + offset, start + offset + intoLength)
  await call(world, data, { into })
  return Uint8Array.from(bytesOf(into))
}

describe.each(Object.keys(cases))('%s into memory that overlaps its data', (name) => {
  // One rank and several per process; packed, one by one, and past the eager limit.
  it.each([
    [3, 3, 5],
    [4, 2, 5],
    [3, 3, 3000],
    [4, 2, 3000],
    [3, 3, 8_400],
    [4, 2, 8_400],
  ])(
    'gives the same as into other memory, %i ranks on %i processes, %i elements',
    async (ranks, processes, block) => {
      await run(
        async (world: Communicator) => {
          const each = cases[name]
          const expected = await resultOf(each, world, block, null)
          // What other ranks leave untouched is not a result.
          const isResult = !['gather', 'gatherv', 'reduce'].includes(name) || world.rank === root
          const last = each.passed(world.size, block)
          for (const offset of [0, 1, -1, Math.min(last, block) - 1, 1 - each.got(world.size, block)]) {
            const found = await resultOf(each, world, block, Math.min(offset, last))
            if (!isResult || (name === 'exscan' && world.rank === 0)) continue
            expect(Buffer.compare(found, expected), `offset ${offset}`).toBe(0)
          }
        },
        { ranks, fabric: local({ processes, seed: block }) },
      )
    },
  )
})
