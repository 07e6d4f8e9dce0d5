import { expect, it } from 'vitest'
import { run } from '../../../src/launch/run.js'

it('describe lists algorithm, calls and reason of the collectives that ran', async () => {
  const [uses] = await run(
    async (world) => {
      for (let n = 0; n < 3; n++) await world.barrier()
      await world.allreduce(Float64Array.of(1), 'sum')
      await world.bcast(world.rank === 0 ? Float64Array.of(1) : null, 0)
      await world.bcast(world.rank === 0 ? new Float64Array(100) : null, 0, {
        algorithm: 'bcast-chain',
        segments: 4,
      })
      await world.allgather(Float64Array.of(1), { algorithm: 'allgather-ring' })
      return world.describe().collectives
    },
    { ranks: 4, processes: 4 },
  )
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

it('describe counts calls whose equal blocks travel one by one', async () => {
  const [uses] = await run(
    async (world) => {
      await world.allgather(new Float64Array(100), { algorithm: 'allgather-ring' })
      await world.alltoall(new Float64Array(400), { algorithm: 'alltoall-pairwise' })
      return world.describe().collectives
    },
    { ranks: 4, processes: 4, eagerLimitBytes: 100 },
  )
  expect(uses.map(({ algorithm, calls }) => [algorithm, calls])).toEqual([
    ['allgather-ring', 1],
    ['alltoall-pairwise', 1],
  ])
})

it('one process runs no algorithm', async () => {
  const [uses] = await run(
    async (world) => {
      await world.barrier()
      return world.describe().collectives
    },
    { ranks: 4 },
  )
  expect(uses).toEqual([])
})
