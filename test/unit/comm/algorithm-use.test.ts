import { type Communicator, createOperation, local } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { onRanks } from '../../support/on-ranks.js'

it('describe lists algorithm, calls and reason of the collectives that ran', async () => {
  const [uses] = await onRanks({ ranks: 4, processes: 4 }, async (world) => {
    for (let n = 0; n < 3; n++) await world.barrier()
    await world.allreduce(Float64Array.of(1), 'sum')
    await world.bcast(world.rank === 0 ? Float64Array.of(1) : null, 0)
    await world.bcast(world.rank === 0 ? new Float64Array(100) : null, 0, {
      algorithm: 'bcast-chain',
      segments: 4,
    })
    await world.allgather(Float64Array.of(1), { algorithm: 'allgather-ring' })
    return world.describe().collectives
  })
  const found = new Map(uses.map((use) => [use.algorithm, use]))
  expect(found.get('barrier-dissemination')).toMatchObject({
    collective: 'barrier',
    participants: 4,
    calls: 3,
  })
  expect(found.get('allreduce-tree')).toMatchObject({ calls: 1, why: 'rule: short parts per process' })
  expect(found.get('bcast-chain')).toMatchObject({ calls: 1, segments: 4, why: 'named by the call' })
  expect(found.get('allgather-ring')).toMatchObject({ calls: 1, why: 'named by the call' })
  expect(found.get(null)).toMatchObject({ collective: 'bcast', calls: 1 })
})

it('one process runs no algorithm', async () => {
  const [uses] = await onRanks({ ranks: 4 }, async (world) => {
    await world.barrier()
    return world.describe().collectives
  })
  expect(uses).toEqual([])
})

describe('allreduce of two processes', () => {
  const sum = (world: Communicator) => world.allreduce(Float64Array.of(world.rank), 'sum')

  /** What has run on a communicator of 8 ranks of two processes. */
  async function useOf(
    ranksPerProcess: number[],
    keyOf: (rank: number) => number,
    call: (world: Communicator) => Promise<unknown> = sum,
  ) {
    const [use] = await onRanks({ ranks: 8, fabric: local({ ranksPerProcess }) }, async (world) => {
      const part = await world.split(0, keyOf(world.rank))
      await call(part)
      return part.describe().collectives[0]
    })
    return use
  }
  const inOrder = (rank: number) => rank

  it('is an exchange where each takes part once', async () => {
    expect(await useOf([4, 4], inOrder)).toMatchObject({
      algorithm: 'allreduce-recursive-doubling',
      participants: 2,
      why: 'rule: two processes, short parts',
    })
  })

  it('follows the tree where ranks of both alternate, and says why', async () => {
    expect(await useOf([4, 4], (rank) => rank % 4)).toMatchObject({
      algorithm: 'allreduce-tree',
      why: 'rule: two processes, short parts; not allreduce-recursive-doubling: a process would take part more than once',
    })
  })

  it('is an exchange wherever the ranks are for what combines in any order', async () => {
    const exact = (world: Communicator) => world.allreduce(Int32Array.of(world.rank), 'sum')
    expect(await useOf([1, 7], (rank) => -rank % 3, exact)).toMatchObject({
      algorithm: 'allreduce-recursive-doubling',
    })
  })

  it('follows the tree for a user-defined operation, and says why', async () => {
    const last = createOperation<Float64Array>((_, right) => right.slice(), { name: 'last' })
    expect(
      await useOf([4, 4], inOrder, (world) => world.allreduce(Float64Array.of(world.rank), last)),
    ).toMatchObject({
      algorithm: 'allreduce-tree',
      why: 'rule: two processes, short parts; not allreduce-recursive-doubling: operation last is a function, which both processes would run',
    })
  })
})
