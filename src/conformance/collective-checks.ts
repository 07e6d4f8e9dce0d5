import type { Communicator } from '../handles/communicator.js'
import { createOperation } from '../messages/datatype/operation.js'
import {
  addFloats,
  concatenatedBlocks,
  elements,
  floats,
  labeledText,
  lengthOf,
  lengthsOf,
  oddTuning,
  ranksOf,
  same,
  type Text,
  tree,
  treePrefix,
  types,
} from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

/**
 * Checks reductions of one number or bigint per rank: the same type comes back, numbers with the bits that one element
 * has.
 */
async function checkScalars(comm: Communicator, slot: number): Promise<void> {
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
async function checkNaN(comm: Communicator): Promise<void> {
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

/** A collective on one communicator, compared with an oracle that every rank computes for itself. */
interface CollectiveCheck {
  readonly name: string
  /**
   * Throws when a result is wrong. Data encode (slot, source, destination, element). All calls are started before the
   * first is awaited, so that several checks can run at once and still call in one order.
   *
   * @param length elements per block, 0 included
   */
  check(comm: Communicator, slot: number, length: number): Promise<void>
}

/** The matrix product does not commute, and its integers wrap, so it is associative exactly. */
const matrixProduct = createOperation<Int32Array>(
  (a, b) => {
    for (let i = 0; i + 3 < a.length; i += 4) {
      const [p, q, r, s] = [a[i], a[i + 1], a[i + 2], a[i + 3]]
      const [t, u, v, w] = [b[i], b[i + 1], b[i + 2], b[i + 3]]
      a[i] = Math.imul(p, t) + Math.imul(q, v)
      a[i + 1] = Math.imul(p, u) + Math.imul(q, w)
      a[i + 2] = Math.imul(r, t) + Math.imul(s, v)
      a[i + 3] = Math.imul(r, u) + Math.imul(s, w)
    }
    return undefined
  },
  { name: 'matrixProduct' },
)

const joinTexts = createOperation<Text>(
  (a, b) => ({ text: a.text + b.text, parts: [...a.parts, ...b.parts] }),
  { name: 'joinTexts' },
)

export const checkedCollectives: readonly CollectiveCheck[] = [
  { name: 'barrier', check: (comm) => comm.barrier() },
  {
    name: 'bcast',
    async check(comm, slot, length) {
      const root = slot % comm.size
      const type = types[slot % types.length]
      const isRoot = comm.rank === root
      const expected = elements(type, slot, root, 0, length)
      const given = isRoot ? expected.slice() : null
      const into = slot % 2 === 1 ? new type(length + 2) : undefined
      const typed = comm.bcast(given, root, into === undefined ? {} : { into })
      const value = comm.bcast(isRoot ? labeledText(slot, root) : null, root)
      const got = await typed
      if (isRoot) same(got === given, true, 'bcast: the root gets its own data')
      else if (into !== undefined) same(got === into, true, 'bcast: the result is into')
      same(got.subarray(0, length), expected, 'bcast')
      same(await value, labeledText(slot, root), 'bcast of a value')
    },
  },
  {
    name: 'reduce',
    async check(comm, slot, length) {
      const root = (slot * 5) % comm.size
      const expected = tree(ranksOf(comm), (rank) => floats(slot, rank, length), addFloats)
      const got = await comm.reduce(floats(slot, comm.rank, length), 'sum', root)
      same(got, comm.rank === root ? expected : null, 'reduce')
    },
  },
  {
    name: 'allreduce, with the same bits on every rank',
    async check(comm, slot, length) {
      const leaf = (rank: number) => floats(slot, rank, length)
      const narrowLeaf = (rank: number) => Float32Array.from(leaf(rank))
      const mine = leaf(comm.rank)
      const inPlace = leaf(comm.rank)
      const [wide, placed, narrow] = await Promise.all([
        comm.allreduce(mine, 'sum'),
        comm.allreduce(inPlace, 'sum', { into: inPlace }),
        comm.allreduce(narrowLeaf(comm.rank), 'sum'),
      ])
      const expected = tree(ranksOf(comm), leaf, addFloats)
      same(wide, expected, 'allreduce')
      same(mine, leaf(comm.rank), 'allreduce does not change its input')
      same(placed === inPlace, true, 'allreduce: the result is into')
      same(placed, expected, 'allreduce in place')
      same(narrow, tree(ranksOf(comm), narrowLeaf, addFloats), 'allreduce of float32')
    },
  },
  { name: 'reductions of numbers and bigints', check: checkScalars },
  { name: 'the bits of NaN in reductions', check: checkNaN },
  {
    name: 'allreduce of every integer type',
    async check(comm, slot, length) {
      const integers = types.filter((type) => type !== Float32Array && type !== Float64Array)
      const got = await Promise.all(
        integers.map((type) => comm.allreduce(elements(type, slot, comm.rank, 0, length), 'max')),
      )
      integers.forEach((type, i) => {
        const expected = elements(type, slot, 0, 0, length)
        for (const rank of ranksOf(comm)) {
          elements(type, slot, rank, 0, length).forEach((value, at) => {
            if (value > expected[at]) expected[at] = value as never
          })
        }
        same(got[i], expected, `allreduce of ${type.name}`)
      })
    },
  },
  {
    name: 'non-commutative operations',
    async check(comm, slot, length) {
      const matrix = (rank: number) => elements(Int32Array, slot, rank, 1, 4 * length) as Int32Array
      const product = (a: Int32Array, b: Int32Array) => {
        const out = a.slice()
        matrixProduct.combine(out, b)
        return out
      }
      const join = (a: Text, b: Text) => joinTexts.combine(a, b)!
      const mine = matrix(comm.rank)
      const text = labeledText(slot, comm.rank)
      const [products, scanned, texts, scannedTexts, before] = await Promise.all([
        comm.allreduce(mine, matrixProduct),
        comm.scan(mine, matrixProduct),
        comm.allreduce(text, joinTexts),
        comm.scan(text, joinTexts),
        comm.exscan(text, joinTexts),
      ])
      const through = ranksOf(comm).slice(0, comm.rank + 1)
      same(products, ranksOf(comm).map(matrix).reduce(product), 'product of matrices')
      same(scanned, through.map(matrix).reduce(product), 'scan of matrices')
      same(mine, matrix(comm.rank), 'operations do not change the input')
      const textsOf = (ranks: readonly number[]) => ranks.map((rank) => labeledText(slot, rank))
      same(texts, textsOf(ranksOf(comm)).reduce(join), 'joined texts')
      same(scannedTexts, textsOf(through).reduce(join), 'scan of texts')
      const expected = comm.rank === 0 ? null : textsOf(through.slice(0, -1)).reduce(join)
      same(before, expected, 'exscan of texts')
    },
  },
  {
    name: 'scan and exscan, with the same bits on every layout',
    async check(comm, slot, length) {
      const leaf = (rank: number) => floats(slot, rank, length)
      const mine = leaf(comm.rank)
      const [inclusive, exclusive, placed] = await Promise.all([
        comm.scan(leaf(comm.rank), 'sum'),
        comm.exscan(leaf(comm.rank), 'sum'),
        comm.scan(mine, 'sum', { into: mine }),
      ])
      const before = treePrefix(comm.size, comm.rank, leaf, addFloats)
      const through = before === null ? leaf(comm.rank) : addFloats(before, leaf(comm.rank))
      same(inclusive, through, 'scan')
      same(exclusive, before, 'exscan')
      same(placed, through, 'scan in place')
    },
  },
  {
    name: 'gather',
    async check(comm, slot, length) {
      const root = (slot * 3) % comm.size
      const type = types[slot % types.length]
      const [typed, values] = await Promise.all([
        comm.gather(elements(type, slot, comm.rank, root, length), root),
        comm.gather(labeledText(slot, comm.rank), root),
      ])
      const blocks = ranksOf(comm).map((rank) => elements(type, slot, rank, root, length))
      const texts = ranksOf(comm).map((rank) => labeledText(slot, rank))
      same(typed, comm.rank === root ? concatenatedBlocks(type, blocks) : null, 'gather')
      same(values, comm.rank === root ? texts : null, 'gather of values')
    },
  },
  {
    name: 'gatherv',
    async check(comm, slot, length) {
      const root = (slot * 3 + 1) % comm.size
      const block = (rank: number) =>
        elements(Int16Array, slot, rank, root, lengthOf(rank, length)) as Int16Array
      const got = await comm.gatherv(block(comm.rank), root)
      const blocks = ranksOf(comm).map(block)
      same(got?.data ?? null, comm.rank === root ? concatenatedBlocks(Int16Array, blocks) : null, 'gatherv')
      same(got?.counts ?? null, comm.rank === root ? lengthsOf(blocks) : null, 'gatherv counts')
    },
  },
  {
    name: 'scatter',
    async check(comm, slot, length) {
      const root = (slot * 7) % comm.size
      const type = types[slot % types.length]
      const blocks = ranksOf(comm).map((rank) => elements(type, slot, root, rank, length))
      const texts = ranksOf(comm).map((rank) => labeledText(slot, rank))
      const [typed, value] = await Promise.all([
        comm.scatter(comm.rank === root ? concatenatedBlocks(type, blocks) : null, root),
        comm.scatter(comm.rank === root ? texts : null, root),
      ])
      same(typed, blocks[comm.rank], 'scatter')
      same(value, texts[comm.rank], 'scatter of values')
    },
  },
  {
    name: 'scatterv',
    async check(comm, slot, length) {
      const root = (slot * 7 + 1) % comm.size
      const blocks = ranksOf(comm).map((rank) =>
        elements(Float32Array, slot, root, rank, lengthOf(rank, length)),
      )
      const isRoot = comm.rank === root
      const data = isRoot ? concatenatedBlocks(Float32Array, blocks) : null
      const got = await comm.scatterv(data, isRoot ? lengthsOf(blocks) : null, root)
      same(got, blocks[comm.rank], 'scatterv')
    },
  },
  {
    name: 'allgather',
    async check(comm, slot, length) {
      const type = types[slot % types.length]
      const [typed, values] = await Promise.all([
        comm.allgather(elements(type, slot, comm.rank, 0, length)),
        comm.allgather(labeledText(slot, comm.rank)),
      ])
      const blocks = ranksOf(comm).map((rank) => elements(type, slot, rank, 0, length))
      const texts = ranksOf(comm).map((rank) => labeledText(slot, rank))
      same(typed, concatenatedBlocks(type, blocks), 'allgather')
      same(values, texts, 'allgather of values')
    },
  },
  {
    name: 'allgatherv',
    async check(comm, slot, length) {
      const blocks = ranksOf(comm).map(
        (rank) => elements(BigInt64Array, slot, rank, 0, lengthOf(rank, length)) as BigInt64Array,
      )
      const counts = lengthsOf(blocks)
      // The blocks are in reverse order, one element apart.
      const displs = new Int32Array(comm.size)
      let end = 0
      for (let rank = comm.size - 1; rank >= 0; rank--) {
        displs[rank] = end
        end += counts[rank] + 1
      }
      const into = new BigInt64Array(end).fill(-1n)
      const expected = new BigInt64Array(end).fill(-1n)
      blocks.forEach((block, rank) => {
        expected.set(block, displs[rank])
      })
      const [packed, placed] = await Promise.all([
        comm.allgatherv(blocks[comm.rank], { counts }),
        comm.allgatherv(blocks[comm.rank], { displs, into }),
      ])
      same(packed.data, concatenatedBlocks(BigInt64Array, blocks), 'allgatherv')
      same(packed.counts, counts, 'allgatherv counts')
      same(placed.data, expected, 'allgatherv with displs')
    },
  },
  {
    name: 'alltoall',
    async check(comm, slot, length) {
      const type = types[slot % types.length]
      const out = ranksOf(comm).map((rank) => elements(type, slot, comm.rank, rank, length))
      const back = ranksOf(comm).map((rank) => elements(type, slot, rank, comm.rank, length))
      const [typed, values] = await Promise.all([
        comm.alltoall(concatenatedBlocks(type, out)),
        comm.alltoall(ranksOf(comm).map((rank) => labeledText(slot + comm.rank, rank))),
      ])
      const texts = ranksOf(comm).map((rank) => labeledText(slot + rank, comm.rank))
      same(typed, concatenatedBlocks(type, back), 'alltoall')
      same(values, texts, 'alltoall of values')
    },
  },
  {
    name: 'alltoallv',
    async check(comm, slot, length) {
      const block = (src: number, dest: number) =>
        elements(Uint32Array, slot, src, dest, lengthOf(src + 2 * dest, length))
      const out = ranksOf(comm).map((rank) => block(comm.rank, rank))
      const back = ranksOf(comm).map((rank) => block(rank, comm.rank))
      const got = await comm.alltoallv(concatenatedBlocks(Uint32Array, out), lengthsOf(out), {
        counts: lengthsOf(back),
      })
      same(got.data, concatenatedBlocks(Uint32Array, back), 'alltoallv')
      same(got.counts, lengthsOf(back), 'alltoallv counts')
    },
  },
  {
    name: 'reduceScatter',
    async check(comm, slot, length) {
      const counts = ranksOf(comm).map((rank) => lengthOf(rank, length))
      const total = counts.reduce((a, b) => a + b, 0)
      const [varying, uniform] = await Promise.all([
        comm.reduceScatter(floats(slot, comm.rank, total), 'sum', { counts }),
        comm.reduceScatter(floats(slot, comm.rank, length * comm.size), 'sum'),
      ])
      const whole = tree(ranksOf(comm), (rank) => floats(slot, rank, total), addFloats)
      const first = counts.slice(0, comm.rank).reduce((a, b) => a + b, 0)
      same(varying, whole.slice(first, first + counts[comm.rank]), 'reduceScatter')
      const equal = tree(ranksOf(comm), (rank) => floats(slot, rank, length * comm.size), addFloats)
      const block = equal.slice(length * comm.rank, length * (comm.rank + 1))
      same(uniform, block, 'reduceScatter of equal blocks')
    },
  },
]

const lengths = [0, 1, 5]

/**
 * The collectives as cases. Each runs on the world, on its ranks reversed, on its ranks distributed cyclically, and on
 * its odd and even halves. Distributed cyclically, no two neighbors are on one process. Blocks have 0, 1 and more
 * elements.
 */
export const collectiveChecks: readonly WorldCase[] = [
  ...checkedCollectives.map(({ name, check }, slot) => ({ name, check: onLayouts(check, slot) })),
  {
    name: 'all collectives in flight at once',
    settings: [{}, { tuning: oddTuning() }],
    check: onLayouts(async (comm, slot, length) => {
      await Promise.all(checkedCollectives.map(({ check }, i) => check(comm, slot + i, length)))
    }, checkedCollectives.length),
  },
]

/** Checks every other pair of a layout and a length; the next round checks the others. */
function onLayouts(check: CollectiveCheck['check'], firstSlot: number): WorldCase['check'] {
  return async (world, { seed, rounds }) => {
    const { rank, size } = world
    const stride = Math.max(1, Math.floor(Math.sqrt(size)))
    const layouts = [
      world,
      await world.split(0, -rank),
      await world.split(0, (rank % stride) * size + rank),
      await world.split(rank % 2, rank),
    ]
    let slot = (seed % 1000) + firstSlot
    for (let round = 0; round < rounds; round++) {
      for (const [i, comm] of layouts.entries()) {
        for (const [j, length] of lengths.entries()) {
          if ((i + j + round) % 2 === 0) await check(comm, slot++, length)
        }
      }
    }
    for (const comm of layouts.slice(1)) await comm.free()
  }
}
