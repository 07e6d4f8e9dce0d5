import { type Communicator, local, type PersistentRequest, run, strided } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { coded, codeOf, onRanks } from '../../support/on-ranks.js'

/** Buffers whose length may change. */
const Buffers = ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer

const ranks = 5

describe.each([1, 2, 5])('persistent collectives on %i processes', (processes) => {
  const options = { ranks, fabric: local({ processes, seed: 17 }) }

  it('read what is sent anew at every start where recv is, or overlaps, the same memory', async () => {
    await run(async (world: Communicator) => {
      const { rank } = world
      const sum = Float64Array.of(rank, 1)
      const inPlace = world.allreduceInit(sum, sum, 'sum')
      const blocks = new Int32Array(ranks)
      const exchange = world.alltoallInit(blocks, blocks)
      const memory = new Int8Array(ranks)
      const gather = world.allgatherInit(memory.subarray(rank, rank + 1), memory)
      for (let round = 0; round < 3; round++) {
        sum.set([rank, round])
        for (let to = 0; to < ranks; to++) blocks[to] = 100 * round + 10 * rank + to
        memory.fill(-1)
        memory[rank] = round + rank
        await Promise.all([inPlace.start(), exchange.start(), gather.start()])
        expect([...sum]).toEqual([10, 5 * round])
        expect([...blocks]).toEqual([0, 1, 2, 3, 4].map((from) => 100 * round + 10 * from + rank))
        expect([...memory]).toEqual([0, 1, 2, 3, 4].map((from) => round + from))
      }
    }, options)
  })

  it('reject a start that is active, freed, or whose buffer is detached', async () => {
    await run(async (world: Communicator) => {
      const into = new Float64Array(2)
      const request = world.allreduceInit(Float64Array.of(1, 2), into, 'sum')
      const active = request.start()
      const again = request.start()
      expect(() => request.free()).toThrow(coded('ERR_REQUEST'))
      expect(await codeOf(again)).toBe('ERR_REQUEST')
      await active
      structuredClone(into.buffer, { transfer: [into.buffer] })
      expect(await codeOf(request.start())).toBe('ERR_TYPE')
      request.free()
      expect(() => request.free()).toThrow(coded('ERR_REQUEST'))
      expect(await codeOf(request.start())).toBe('ERR_REQUEST')
      await world.barrier()
    }, options)
  })

  it('reject starts on a freed or revoked communicator', async () => {
    await run(async (world: Communicator) => {
      const freed = await world.dup()
      const ofFreed = freed.barrierInit()
      await ofFreed.start()
      await freed.free()
      expect(await codeOf(ofFreed.start())).toBe('ERR_COMM_FREED')
      expect(() => freed.barrierInit()).toThrow(coded('ERR_COMM_FREED'))
      const revoked = await world.dup()
      const ofRevoked = revoked.barrierInit()
      await ofRevoked.start()
      if (world.rank === 0) {
        const controller = new AbortController()
        const started = ofRevoked.start({ signal: controller.signal })
        setImmediate(() => controller.abort())
        expect(await codeOf(started)).toBe('ERR_ABORTED')
      }
      await world.barrier()
      expect(await codeOf(ofRevoked.start())).toBe('ERR_REVOKED')
    }, options)
  })

  it('reject ranks that bind other lengths, types, operations or collectives', async () => {
    const misuses: readonly ((world: Communicator) => Pick<PersistentRequest, 'start'>)[] = [
      (world) => {
        const length = world.rank === 4 ? 3 : 2
        return world.allreduceInit(new Float64Array(length), new Float64Array(length), 'sum')
      },
      (world) => world.bcastInit(new Int8Array(world.rank === 0 ? 2 : 3)),
      (world) => world.bcastInit(world.rank === 0 ? new Int8Array(2) : new Uint8Array(2)),
      (world) => {
        const op = world.rank === 1 ? 'min' : 'max'
        return world.scanInit(new Int8Array(1), new Int8Array(1), op)
      },
      (world) =>
        world.rank === 2 ? world.barrierInit() : world.allgatherInit(new Int8Array(1), new Int8Array(ranks)),
      (world) => world.barrierInit(world.rank === 0 ? { algorithm: 'barrier-linear' } : {}),
      // A call is not the start of a persistent collective.
      (world) => (world.rank === 0 ? world.barrierInit() : { start: () => world.barrier() }),
    ]
    for (const misuse of misuses) {
      const codes = await onRanks(options, (world: Communicator) =>
        codeOf(async () => {
          await misuse(world).start()
          // A rank may have done its part before another one fails.
          await world.barrier()
        }),
      )
      expect(codes).toEqual(codes.map(() => 'ERR_COLLECTIVE_MISMATCH'))
    }
  })
})

it('inits reject buffers that do not fit, before anything is sent', async () => {
  await onRanks({ ranks: 2, processes: 2 }, async (world: Communicator) => {
    const two = new Float64Array(2)
    const view = strided(new Float64Array(8), { count: 2, blockLength: 1, stride: 4 })
    const resizable = new Float64Array(new Buffers(16, { maxByteLength: 32 }))
    const cases: readonly [string, () => unknown][] = [
      ['ERR_TYPE', () => world.allreduceInit(3 as never, two as never, 'sum' as never)],
      ['ERR_TYPE', () => world.allreduceInit(view as never, two as never, 'sum' as never)],
      ['ERR_TYPE', () => world.allreduceInit(two, view as never, 'sum')],
      ['ERR_TYPE', () => world.allreduceInit(two, undefined as never, 'sum')],
      ['ERR_TYPE', () => world.allreduceInit(two, resizable, 'sum')],
      ['ERR_TYPE', () => world.reduceScatterInit(two, undefined as never, 'sum')],
      ['ERR_TYPE', () => world.scanInit(view as never, two as never, 'sum' as never)],
      ['ERR_TYPE', () => world.exscanInit(two, resizable, 'sum')],
      ['ERR_TYPE', () => world.alltoallInit(two, view as never)],
      ['ERR_TYPE', () => world.bcastInit(null as never)],
      ['ERR_TYPE', () => world.scatterInit(null, two, world.rank)],
      ['ERR_TYPE', () => world.reduceInit(two, undefined as never, 'sum', world.rank)],
      ['ERR_TYPE_MISMATCH', () => world.scanInit(two, new Float32Array(2) as never, 'sum')],
      ['ERR_TYPE_MISMATCH', () => world.scatterInit(two, new Float32Array(1) as never, world.rank)],
      ['ERR_TRUNCATE', () => world.exscanInit(two, new Float64Array(1), 'sum')],
      ['ERR_TRUNCATE', () => world.allgatherInit(two, two)],
      ['ERR_TRUNCATE', () => world.gatherInit(two, two, world.rank)],
      ['ERR_TRUNCATE', () => world.alltoallInit(two, new Float64Array(1))],
      ['ERR_TRUNCATE', () => world.reduceScatterInit(two, new Float64Array(0), 'sum')],
      ['ERR_COUNT', () => world.reduceScatterInit(two, two, 'sum', { counts: [1] })],
      ['ERR_COUNT', () => world.alltoallInit(new Int8Array(3), new Int8Array(3))],
      ['ERR_COUNT', () => world.scatterInit(two, new Float64Array(2), world.rank)],
      ['ERR_TYPE', () => world.scattervInit(null, [1, 1], two, world.rank)],
      ['ERR_TYPE', () => world.gathervInit(view as never, two as never, world.rank)],
      ['ERR_TYPE_MISMATCH', () => world.allgathervInit(two, new Float32Array(4) as never)],
      ['ERR_COUNT', () => world.alltoallvInit(two, [1], two)],
      ['ERR_COUNT', () => world.allgathervInit(two, two, { counts: [1] })],
      ['ERR_COUNT', () => world.allgathervInit(two, two, { counts: null as never })],
      ['ERR_TRUNCATE', () => world.allgathervInit(two, two, { counts: [2, 1] })],
      ['ERR_TRUNCATE', () => world.alltoallvInit(two, [1, 1], two, { counts: [1, 1], displs: [0, 2] })],
      ['ERR_TRUNCATE', () => world.gathervInit(two, two, world.rank, { counts: [2, 2] })],
      ['ERR_COUNT', () => world.scattervInit(two, [3, 3], two, world.rank)],
      ['ERR_RANK', () => world.gathervInit(two, two, 7)],
      ['ERR_RANK', () => world.gatherInit(two, new Float64Array(4), null as never)],
      ['ERR_RANK', () => world.gathervInit(two, new Float64Array(4), null as never)],
      ['ERR_RANK', () => world.bcastInit(two, 2)],
      ['ERR_RANK', () => world.reduceInit(two, two, 'sum', -1)],
      ['ERR_OP', () => world.allreduceInit(two, two, 'band' as 'sum')],
      ['ERR_OP', () => world.scanInit(two, two, 'band' as 'sum')],
      ['ERR_ARGUMENT', () => world.barrierInit({ algorithm: 'x' })],
      ['ERR_ALGORITHM', () => world.allreduceInit(two, two, 'sum', { algorithm: 'allreduce-ring' })],
    ]
    for (const [code, init] of cases) expect([code, await codeOf(init)]).toEqual([code, code])
    await world.barrier()
  })
})
