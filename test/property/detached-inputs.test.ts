import { local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { hostSession } from '../../src/world/world.js'
import { expectHonest } from '../support/detached-outcomes.js'
import main, { detachingCalls, partsOf } from '../support/detached-program.js'
import { MemoryWorld } from '../support/memory-membership.js'
import { isSoak, sampled } from '../support/soak.js'

describe.each(Object.keys(detachingCalls).map((call, n) => [call, n] as const))('%s', (call, n) => {
  const rows = [
    ['data', [2, 2]],
    ['data', [1, 1, 1, 1]],
    ['data', [4]],
    ['into', [1, 1, 1, 1]],
    ['into', [2, 2]],
    ['into', [4]],
  ] as const
  it.each(isSoak ? sampled(rows, 4) : [rows[n % rows.length]])(
    'with %s transferred on processes of %j ranks is never a wrong result',
    async (which, hosted) => {
      const parts = partsOf(call, which)
      for (const bulk of isSoak ? [true, false] : [Math.floor(n / rows.length) % 2 === 0]) {
        const fabric = local({ processes: hosted.length, ranksPerProcess: hosted, seed: 1, bulk })
        const options = { ranks: 4, fabric, eagerLimitBytes: 2000 }
        expectHonest(parts, await run((world) => main(world, parts), options))
      }
    },
  )
})

it.each(['data', 'into'] as const)(
  'over sockets, %s that is transferred while a call runs is never a wrong result',
  async (which) => {
    const calls = ['bcast', 'allreduce into', 'allgather', 'alltoallv into', 'neighborAllgatherInit']
    const parts = calls.flatMap((call) => partsOf(call, which))
    const { sessions } = await MemoryWorld.open(2)
    const options = { ranks: 4, eagerLimitBytes: 2000 }
    const outcomes = await Promise.all(
      sessions.map((session) => hostSession(session, (world) => main(world, parts), options)),
    )
    expect(expectHonest(parts, outcomes.flat())).toBeGreaterThan(0)
  },
)

it('an array over a resizable buffer is refused by the call, so none shrinks while it runs', async () => {
  await run(
    async (world) => {
      const Resizable = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer
      const array = new Float64Array(new Resizable(64, { maxByteLength: 128 }))
      for (const call of [
        () => world.allreduce(array, 'sum'),
        () => world.reduceScatter(array, 'sum'),
        () => world.scan(new Float64Array(1), 'sum', { into: array }),
        () => world.gatherv(array, 0),
        () => world.send(array, 1),
        () => world.recv(1, 0, { into: array }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'ERR_TYPE' })
    },
    { ranks: 2, fabric: local({ processes: 2 }) },
  )
})
