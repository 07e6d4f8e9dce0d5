import { ANY_SOURCE, type Communicator, local } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { contextsOf, inWorlds, talk } from '../../support/in-worlds.js'
import { codeOf, onRanks } from '../../support/on-ranks.js'

describe('free', () => {
  it('makes its handle unusable at once', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const freeing = copy.free()
      await expect(copy.send(null, 0)).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
      await freeing
      await expect(copy.free()).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
      await expect(copy.group()).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
    }))

  it('releases a revoked communicator, whatever of it is still in flight', async () => {
    const into = () => ({ into: new Float64Array(5000) })
    for (const [seed, bulk, creditBytes] of [
      [1, true, 2 ** 24],
      [2, false, 2 ** 24],
      [3, true, 0],
      [4, false, 1000],
    ] as const) {
      const fabric = local({ processes: 3, seed, bulk, maxPayloadBytes: 512, faults: { delay: 4 } })
      const kept = await onRanks({ ranks: 6, fabric, creditBytes }, async (world: Communicator) => {
        for (let round = 0; round < 30; round++) {
          const copy = await world.dup()
          const aborter = round % world.size
          const neighbor = (world.rank + 1) % world.size
          const signal = world.rank === aborter ? AbortSignal.abort() : undefined
          const started = [
            () => copy.isend(new Float64Array(1), neighbor).wait(),
            () => copy.isend(new Float64Array(5000), neighbor).wait(),
            () => copy.irecv(ANY_SOURCE, 0, into()).wait(),
            () => copy.bcast(copy.rank === 0 ? new Float64Array(5000) : null, 0, into()),
            () => copy.barrier(signal === undefined ? {} : { signal }),
            // In the middle of all that, or after it has been revoked here.
            () => round % 2 === 0 && copy.free(),
          ].map(async (start) => start())
          await Promise.allSettled(started)
          if (round % 2 === 1) await copy.free()
        }
        await world.barrier()
        // Frames of a pair keep their order: after this, all of the revoked communicators have arrived.
        await world.alltoall(new Int32Array(world.size))
        const total = await world.allreduce(Float64Array.of(world.rank), 'sum')
        expect(total[0]).toBe(15)
        return contextsOf(world)
      })
      expect(kept).toEqual(new Array(6).fill(1))
    }
  })

  it('resolves on a revoked communicator', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      await copy.barrier({ signal: AbortSignal.abort() }).catch(() => {})
      await copy.free()
      await expect(copy.barrier()).rejects.toMatchObject({ code: 'ERR_COMM_FREED' })
      await world.barrier()
      expect(contextsOf(world)).toBe(1)
    }))

  it.each([2, 5, 13, 64])(
    'sends ceil(lg P) messages per process of %i where no rank has sent',
    async (processes) => {
      const sent = await onRanks(
        { ranks: processes, fabric: local({ processes, seed: processes }) },
        async (world: Communicator) => {
          const { processCounters } = world.seat().state.runtime
          const copy = await world.dup()
          await world.barrier()
          const before = processCounters.framesSent
          await copy.free()
          return processCounters.framesSent - before
        },
      )
      expect(Math.max(...sent)).toBe(Math.ceil(Math.log2(processes)))
    },
  )

  it('rejects the world', () =>
    inWorlds(async (world) => {
      await expect(world.free()).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
      await talk(world, 1)
    }))

  it('lets matched operations complete and fails the others', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const next = (world.rank + 1) % world.size
      const large = new Float64Array(20_000).fill(world.rank)
      const received = copy.irecv<Float64Array>(ANY_SOURCE, 1)
      const sent = copy.isend(large, next, 1)
      const unheard = copy.issend(Int32Array.of(1), next, 2)
      const eager = copy.isend(Int32Array.of(1), next, 3)
      const collective = copy.barrier()
      const never = copy.irecv(ANY_SOURCE, 99)
      const [freed, ...ends] = await Promise.allSettled([
        copy.free(),
        received.wait(),
        sent.wait(),
        eager.wait(),
        collective,
        unheard.wait(),
        never.wait(),
      ])
      expect(freed.status).toBe('fulfilled')
      const statuses = ends.map(({ status }) => status)
      expect(statuses).toEqual([...Array(4).fill('fulfilled'), ...Array(2).fill('rejected')])
      const arrived = ends[0] as PromiseFulfilledResult<{ data: Float64Array }>
      const before = (world.rank + world.size - 1) % world.size
      expect(arrived.value.data.length).toBe(20_000)
      expect(arrived.value.data.every((value) => value === before)).toBe(true)
      for (const end of ends.slice(4)) expect(end).toMatchObject({ reason: { code: 'ERR_COMM_FREED' } })
      await world.barrier()
      expect(contextsOf(world)).toBe(1)
    }))

  it('waits for collectives that were started but not awaited', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const sums = Array.from({ length: 5 }, (_, i) => copy.allreduce(Int32Array.of(world.rank + i), 'sum'))
      await copy.free()
      const ranks = (world.size * (world.size - 1)) / 2
      for (const [i, sum] of sums.entries()) expect([...(await sum)]).toEqual([ranks + i * world.size])
    }))

  it('waits for the first start of a persistent collective, whose init is not complete', () =>
    inWorlds(async (world) => {
      for (let round = 0; round < 2; round++) {
        const copy = await world.dup()
        const sum = new Int32Array(1)
        const request = copy.allreduceInit(Int32Array.of(world.rank), sum, 'sum')
        // The second round's start takes the other path.
        if (round === 1) await request.start()
        const started = request.start()
        await copy.free()
        await started
        expect(sum[0]).toBe((world.size * (world.size - 1)) / 2)
        request.free()
      }
      await world.barrier()
      expect(contextsOf(world)).toBe(1)
    }))

  it('resolves when the communicator is revoked meanwhile, but where its own signal does that', async () => {
    for (const processes of [1, 2, 5]) {
      const ends = await onRanks(
        { ranks: 5, fabric: local({ processes, seed: processes }) },
        async (world: Communicator) => {
          const copy = await world.dup()
          const options = world.rank === 3 ? { signal: AbortSignal.timeout(1) } : {}
          // Rank 4 does not free it before the abort.
          if (world.rank === 4) await world.recv(3, 1)
          const end = await codeOf(copy.free(options))
          if (world.rank === 3) await world.send(null, 4, 1)
          await world.barrier()
          expect(contextsOf(world)).toBe(1)
          return end
        },
      )
      expect(ends).toEqual(['none', 'none', 'none', 'ERR_ABORTED', 'none'])
    }
  })
})
