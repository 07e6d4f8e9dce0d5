import type { Communicator } from '../handles/communicator.js'
import {
  type AlgorithmCase,
  type AlgorithmCheck,
  type AlgorithmOptions,
  unlessRefused,
} from './algorithm-case.js'
import {
  concatenatedBlocks,
  elements,
  labeledText,
  lengthOf,
  lengthsOf,
  ranksOf,
  same,
  types,
} from './collective-oracles.js'

async function checkBcast(
  comm: Communicator,
  options: AlgorithmOptions,
  { slot, length, root }: AlgorithmCase,
): Promise<void> {
  const isRoot = comm.rank === root
  const type = types[slot % types.length]
  const expected = elements(type, slot, root, 0, length)
  const into = new type(length)
  const given = expected.slice()
  const [fresh, placed, value] = await Promise.all([
    unlessRefused(comm.bcast(isRoot ? given : null, root, options)),
    unlessRefused(comm.bcast(isRoot ? given : null, root, { ...options, into })),
    unlessRefused(comm.bcast(isRoot ? labeledText(slot, root) : null, root, options)),
  ])
  if (fresh === undefined) return
  same(fresh, expected, 'bcast')
  same(placed, expected, 'bcast into an array')
  same(placed === (isRoot ? given : into), true, 'bcast: the result is into')
  same(value, labeledText(slot, root), 'bcast of a value')
}

async function checkBarrier(comm: Communicator, options: AlgorithmOptions): Promise<void> {
  await unlessRefused(comm.barrier(options))
}

async function checkScatter(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length, root } = given
  const isRoot = comm.rank === root
  const type = types[slot % types.length]
  const blocks = ranksOf(comm).map((rank) => elements(type, slot, root, rank, length))
  const varying = ranksOf(comm).map((rank) => elements(Int16Array, slot, root, rank, lengthOf(rank, length)))
  const texts = ranksOf(comm).map((rank) => labeledText(slot, rank))
  const into = new type(length)
  const [equal, placed, counted, value] = await Promise.all([
    unlessRefused(comm.scatter(isRoot ? concatenatedBlocks(type, blocks) : null, root, options)),
    unlessRefused(comm.scatter(isRoot ? concatenatedBlocks(type, blocks) : null, root, { ...options, into })),
    unlessRefused(
      comm.scatterv(
        isRoot ? concatenatedBlocks(Int16Array, varying) : null,
        isRoot ? lengthsOf(varying) : null,
        root,
        options,
      ),
    ),
    unlessRefused(comm.scatter(isRoot ? texts : null, root, options)),
  ])
  if (equal === undefined) return
  same(equal, blocks[comm.rank], 'scatter')
  same(placed === into, true, 'scatter: the result is into')
  same(placed, blocks[comm.rank], 'scatter into an array')
  same(counted, varying[comm.rank], 'scatterv')
  same(value, texts[comm.rank], 'scatter of values')
}

async function checkGather(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length, root } = given
  const { rank } = comm
  const type = types[slot % types.length]
  const block = (of: number) => elements(type, slot, of, root, length)
  const varying = (of: number) => elements(Int16Array, slot, of, root, lengthOf(of, length))
  const [equal, counted, values] = await Promise.all([
    unlessRefused(comm.gather(block(rank), root, options)),
    unlessRefused(comm.gatherv(varying(rank), root, options)),
    unlessRefused(comm.gather(labeledText(slot, rank), root, options)),
  ])
  if (equal === undefined) return
  const isRoot = rank === root
  same(equal, isRoot ? concatenatedBlocks(type, ranksOf(comm).map(block)) : null, 'gather')
  same(
    counted?.data ?? null,
    isRoot ? concatenatedBlocks(Int16Array, ranksOf(comm).map(varying)) : null,
    'gatherv',
  )
  same(values, isRoot ? ranksOf(comm).map((of) => labeledText(slot, of)) : null, 'gather of values')
}

async function checkAllgather(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length } = given
  const { rank, size } = comm
  const type = types[slot % types.length]
  const block = (of: number) => elements(type, slot, of, 0, length)
  const varying = (of: number) => elements(Int16Array, slot, of, 0, lengthOf(of, length))
  const all = new type(size * length)
  const mine = all.subarray(rank * length, (rank + 1) * length)
  mine.set(block(rank) as never)
  const [equal, inPlace, counted, values] = await Promise.all([
    unlessRefused(comm.allgather(block(rank), options)),
    unlessRefused(comm.allgather(mine, { ...options, into: all })),
    unlessRefused(comm.allgatherv(varying(rank), options)),
    unlessRefused(comm.allgather(labeledText(slot, rank), options)),
  ])
  if (equal === undefined) return
  const expected = concatenatedBlocks(type, ranksOf(comm).map(block))
  same(equal, expected, 'allgather')
  same(inPlace, expected, 'allgather in place')
  same(counted?.data, concatenatedBlocks(Int16Array, ranksOf(comm).map(varying)), 'allgatherv')
  same(
    values,
    ranksOf(comm).map((of) => labeledText(slot, of)),
    'allgather of values',
  )
}

async function checkAlltoall(
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
): Promise<void> {
  const { slot, length } = given
  const { rank } = comm
  const type = types[slot % types.length]
  const block = (from: number, to: number) => elements(type, slot, from, to, length)
  const varying = (from: number, to: number) =>
    elements(Int16Array, slot, from, to, lengthOf(from + 2 * to, length))
  const out = ranksOf(comm).map((to) => varying(rank, to))
  const data = concatenatedBlocks(
    type,
    ranksOf(comm).map((to) => block(rank, to)),
  )
  const inPlace = data.slice()
  const [equal, placed, counted, values] = await Promise.all([
    unlessRefused(comm.alltoall(data, options)),
    unlessRefused(comm.alltoall(inPlace, { ...options, into: inPlace })),
    unlessRefused(comm.alltoallv(concatenatedBlocks(Int16Array, out), lengthsOf(out), options)),
    unlessRefused(
      comm.alltoall(
        ranksOf(comm).map((to) => labeledText(slot + rank, to)),
        options,
      ),
    ),
  ])
  const expected = concatenatedBlocks(
    type,
    ranksOf(comm).map((from) => block(from, rank)),
  )
  if (equal !== undefined) same(equal, expected, 'alltoall')
  if (placed !== undefined) same(placed, expected, 'alltoall in place')
  const back = ranksOf(comm).map((from) => varying(from, rank))
  if (counted !== undefined) same(counted.data, concatenatedBlocks(Int16Array, back), 'alltoallv')
  if (values !== undefined)
    same(
      values,
      ranksOf(comm).map((from) => labeledText(slot + from, rank)),
      'alltoall of values',
    )
}

export const movementChecks: readonly (readonly [string, AlgorithmCheck])[] = [
  ['barrier', checkBarrier],
  ['bcast', checkBcast],
  ['scatter', checkScatter],
  ['gather', checkGather],
  ['allgather', checkAllgather],
  ['alltoall', checkAlltoall],
]
