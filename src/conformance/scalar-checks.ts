import type { Communicator } from '../handles/communicator.js'
import { elements, floats, ranksOf, same, tree } from './collective-oracles.js'

/**
 * Checks reductions of one number or bigint per rank: the same type comes back, numbers with the bits that one element
 * has.
 */
export async function checkScalars(comm: Communicator, slot: number): Promise<void> {
  await Promise.all([checkNumbers(comm, slot), checkBigints(comm, slot), checkBits(comm, slot)])
}

async function checkNumbers(comm: Communicator, slot: number): Promise<void> {
  const root = (slot * 3) % comm.size
  const leaf = (rank: number) => floats(slot, rank, 1)[0]
  const mine = leaf(comm.rank)
  // Each call is made twice, because a call may be run again for the next of its kind.
  const [sum, again, reduced, largest, through, before, one] = await Promise.all([
    comm.allreduce(mine, 'sum'),
    comm.allreduce(mine, 'sum'),
    comm.reduce(mine, 'sum', root),
    comm.allreduce(mine, 'max'),
    comm.scan(mine, 'min'),
    comm.exscan(mine, 'min'),
    comm.allreduce(Float64Array.of(mine), 'sum'),
  ])
  const ranks = ranksOf(comm)
  const below = ranks.slice(0, comm.rank).map(leaf)
  const expected = tree(ranks, leaf, (a, b) => a + b)
  same(sum, expected, 'allreduce of a number')
  same(again, expected, 'allreduce of a number, again')
  same(Float64Array.of(sum), one, 'a number has the bits of one element')
  same(reduced, comm.rank === root ? expected : null, 'reduce of a number')
  same(largest, Math.max(...ranks.map(leaf)), 'max of a number')
  same(through, Math.min(...below, mine), 'scan of a number')
  same(before, comm.rank === 0 ? null : Math.min(...below), 'exscan of a number')
}

async function checkBigints(comm: Communicator, slot: number): Promise<void> {
  const root = (slot * 3 + 1) % comm.size
  // The values have more bits than any element.
  const leaf = (rank: number) => -(3n ** BigInt(50 + rank)) - BigInt(slot)
  const mine = leaf(comm.rank)
  const [sum, product, reduced, through, before] = await Promise.all([
    comm.allreduce(mine, 'sum'),
    comm.allreduce(mine, 'prod'),
    comm.reduce(mine, 'min', root),
    comm.scan(mine, 'sum'),
    comm.exscan(mine, 'sum'),
  ])
  const ranks = ranksOf(comm)
  const sumOf = (some: readonly number[]) => some.map(leaf).reduce((a, b) => a + b)
  const below = ranks.slice(0, comm.rank)
  same(sum === sumOf(ranks), true, 'allreduce of a bigint')
  same(product === ranks.map(leaf).reduce((a, b) => a * b), true, 'product of bigints')
  same(reduced === (comm.rank === root ? leaf(comm.size - 1) : null), true, 'reduce of a bigint')
  same(through === sumOf([...below, comm.rank]), true, 'scan of a bigint')
  same(before === (comm.rank === 0 ? null : sumOf(below)), true, 'exscan of a bigint')
}

/** Checks logical operations on numbers, and those on bits, which only bigints have. */
async function checkBits(comm: Communicator, slot: number): Promise<void> {
  const flag = (rank: number) => elements(Uint8Array, slot, rank, 0, 1)[0] as number
  const bits = (rank: number) => BigInt(flag(rank)) << 60n
  const [all, any, odd, xor] = await Promise.all([
    comm.allreduce(flag(comm.rank) & 1, 'land'),
    comm.allreduce(flag(comm.rank) & 1, 'lor'),
    comm.allreduce(flag(comm.rank) & 1, 'lxor'),
    comm.allreduce(bits(comm.rank), 'bxor'),
  ])
  const ones = ranksOf(comm).filter((rank) => (flag(rank) & 1) === 1).length
  same(all, Number(ones === comm.size), 'logical and of numbers')
  same(any, Number(ones > 0), 'logical or of numbers')
  same(odd, ones % 2, 'logical exclusive or of numbers')
  same(
    xor ===
      ranksOf(comm)
        .map(bits)
        .reduce((a, b) => a ^ b),
    true,
    'bitwise exclusive or of bigints',
  )
}

const floatOperations = ['sum', 'prod', 'min', 'max', 'minloc', 'maxloc'] as const

/**
 * Checks NaN of either sign, NaN with other bits, and infinities whose sum is NaN: combined, they give the bits of one
 * NaN.
 */
export async function checkNaN(comm: Communicator): Promise<void> {
  const { rank, size } = comm
  const long = Float64Array.of(0, rank % 2 === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)
  const bits = [0x7ff8000000000000n, 0xfff8000000000000n, 0xfff8000000000123n]
  new BigUint64Array(long.buffer)[0] = bits[rank % 3]
  const short = Float32Array.from(long)
  new Uint32Array(short.buffer)[0] = [0x7fc00000, 0xffc00000, 0xffc00123][rank % 3]
  const results = await Promise.all(
    floatOperations.map((op) =>
      Promise.all([comm.allreduce(long, op), comm.scan(long, op), comm.allreduce(short, op)]),
    ),
  )
  // A value that is not combined keeps its bits.
  if (size === 1 || rank === 0) return
  for (const [i, op] of floatOperations.entries()) {
    for (const result of results[i]) {
      same(Number.isNaN(result[0]), true, `${op} of NaN`)
      same(result, result.map(theNaN), `bits of NaN by ${op}`)
    }
  }
}

function theNaN(value: number): number {
  return Number.isNaN(value) ? Number.NaN : value
}
