import { type Communicator, createOperation, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { checkOfCollective } from '../../../src/conformance/algorithm-checks.js'
import { parseMachine } from '../../../src/machine/machine-text.js'

const algorithm = 'auto'
const torus = 'torus:dims=2x3x2,profile=bluegene-p'

const onMachine = <T>(
  text: string,
  ranks: number,
  processes: number,
  main: (world: Communicator) => Promise<T>,
) => run(main, { fabric: local({ processes }), ranks, machine: parseMachine(text) })

/** What has run of a collective by the machine's choice, in the order of use. */
function chosenIn(comm: Communicator, collective: string): string[] {
  return comm
    .describe()
    .collectives.filter(
      (use) => use.collective === collective && use.why.startsWith('the machine of the world'),
    )
    .map((use) => `${use.algorithm} ${use.segments}`)
}

/** Every collective, or some, with so many elements. */
async function checkAll(
  comm: Communicator,
  length: number,
  names: readonly string[] = [...checkOfCollective.keys()],
): Promise<void> {
  const given = { slot: 3 + (length % 7), length, root: (comm.size - 1 + length) % comm.size }
  for (const name of names) await checkOfCollective.get(name)!(comm, { algorithm }, given)
}

const some = ['bcast', 'allgather', 'allreduce', 'reduce-scatter']

describe.each([
  [torus, 12, 12],
  ['mesh:dims=3x2,cores=2,profile=simgrid-fast', 9, 4],
  ['cluster:nodes=1,cores=2,profile=niagara', 1, 1],
] as const)('on %s, %i ranks in %i processes', (text, ranks, processes) => {
  it('every collective gives right results by auto, also in parts of the world', async () => {
    await onMachine(text, ranks, processes, async (world) => {
      await checkAll(world, 3)
      await checkAll(world, 700, some)
      const part = await world.split(world.rank % 2, -world.rank)
      await checkAll(part!, 5, some)
    })
  })
})

describe('auto', () => {
  it('chooses the same on all ranks, by the length of the data', async () => {
    const uses = await onMachine(torus, 12, 12, async (world) => {
      for (const length of [1, 2000, 20_000]) {
        await world.allgather(new Float64Array(length), { algorithm })
        await world.allreduce(new Int32Array(length), 'sum', { algorithm })
        await world.reduceScatter(new Int32Array(12 * length), 'sum', { algorithm })
      }
      const { collectives } = world.describe()
      return collectives.map((use) => `${use.collective} ${use.algorithm} ${use.segments} ${use.why}`).sort()
    })
    for (const each of uses) expect(each).toEqual(uses[0])
    expect(uses[0].length).toBeGreaterThan(4)
    expect(uses[0].every((use) => use.includes('the machine of the world: units of '))).toBe(true)
    // Long data follow the network.
    expect(uses[0].some((use) => /-(bucket|reordered)/.test(use))).toBe(true)
  })

  it('keeps what a reduction promises: bits of the tree, and the order of ranks', async () => {
    await onMachine(torus, 12, 12, async (world) => {
      const data = Float64Array.from({ length: 400 }, (_, i) => 1 / (1 + i + world.rank))
      const promised = await world.allreduce(data, 'sum')
      expect(await world.allreduce(data, 'sum', { algorithm })).toEqual(promised)
      const any = (await world.allreduce(data, 'sum', { algorithm, order: 'any' })) as Float64Array
      any.forEach((value, i) => {
        expect(value).toBeCloseTo((promised as Float64Array)[i], 10)
      })
      const last = createOperation<Int32Array>((_, b) => b.slice(), { name: 'last' })
      expect(await world.allreduce(Int32Array.of(world.rank), last, { algorithm })).toEqual(Int32Array.of(11))
      expect(await world.scan(String(world.rank), concatenation, { algorithm })).toBe(
        Array.from({ length: world.rank + 1 }, (_, i) => String(i)).join(''),
      )
      expect(chosenIn(world, 'allreduce').length).toBeGreaterThan(1)
    })
  })

  it('takes its place at once: calls that are not awaited keep their order', async () => {
    await onMachine(torus, 12, 12, async (world) => {
      const first = world.allreduce(Int32Array.of(1), 'sum', { algorithm })
      const second = world.barrier()
      const third = world.bcast(world.rank === 2 ? Int32Array.of(7, 8) : null, 2, { algorithm })
      const fourth = world.allgather(Int32Array.of(world.rank))
      expect(await fourth).toEqual(Int32Array.from({ length: 12 }, (_, i) => i))
      expect(await third).toEqual(Int32Array.of(7, 8))
      await second
      expect(await first).toEqual(Int32Array.of(12))
    })
  })

  it('serves persistent requests', async () => {
    await onMachine(torus, 12, 12, async (world) => {
      const into = new Int32Array(12 * 300)
      const given = Int32Array.from({ length: 300 }, (_, i) => 300 * world.rank + i)
      const sum = new Int32Array(300)
      const requests = [
        world.allgatherInit(given, into, { algorithm }),
        world.allreduceInit(given, sum, 'sum', { algorithm }),
        world.bcastInit(into, 3, { algorithm }),
        world.barrierInit({ algorithm }),
      ]
      for (let round = 0; round < 2; round++) for (const request of requests) await request.start()
      expect(into).toEqual(Int32Array.from({ length: 3600 }, (_, i) => i))
      expect(sum).toEqual(Int32Array.from({ length: 300 }, (_, i) => 19_800 + 12 * i))
      for (const request of requests) request.free()
    })
  })

  it('lets the root name the algorithm of a broadcast, with its parameters', async () => {
    const uses = await onMachine(torus, 12, 12, async (world) => {
      for (const length of [1, 100_000]) {
        const data = Uint8Array.from({ length }, (_, i) => i % 251)
        expect(await world.bcast(world.rank === 5 ? data : null, 5, { algorithm })).toEqual(data)
      }
      return world.describe().collectives.map((use) => `${use.algorithm} ${use.segments}`)
    })
    for (const each of uses) expect(each.sort()).toEqual(uses[0].sort())
  })

  it('is refused without a machine, and with one that has no profile, before anything is sent', async () => {
    for (const machine of [null, parseMachine('torus:dims=2x2')]) {
      await run(
        async (world) => {
          const refused = { code: 'ERR_MACHINE', message: expect.stringContaining('algorithm auto') }
          const data = Int32Array.of(world.rank)
          await expect(world.allreduce(data, 'sum', { algorithm })).rejects.toMatchObject(refused)
          await expect(world.bcast(data, 0, { algorithm })).rejects.toMatchObject(refused)
          await expect(world.allgather(data, { algorithm })).rejects.toMatchObject(refused)
          expect(await world.allreduce(1, 'sum')).toBe(4)
        },
        { fabric: local({ processes: 4 }), ranks: 4, ...(machine === null ? {} : { machine }) },
      )
    }
  })

  it('takes no segments beside it, and no settings', async () => {
    await onMachine(torus, 12, 12, async (world) => {
      const refused = { code: 'ERR_ARGUMENT' }
      await expect(world.allgather(1, { algorithm, segments: 2 })).rejects.toMatchObject(refused)
      await expect(world.allgather(1, { algorithm: 'auto:segments=2' })).rejects.toMatchObject(refused)
    })
  })

  it('is refused where the rank table is in parts', async () => {
    await onMachine(torus, 12, 12, async (world) => {
      const color = [0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1][world.rank]
      const part = await world.split(color, 0, { table: 'distributed', selfHostRows: 0 })
      const refused = {
        code: 'ERR_ALGORITHM',
        message: expect.stringContaining('the rank table is distributed'),
      }
      await expect(part!.bcast(1, 0, { algorithm })).rejects.toMatchObject(refused)
      await expect(part!.allreduce(1, 'sum', { algorithm })).rejects.toMatchObject(refused)
    })
  })

  it('is what ranks are told that name other algorithms', async () => {
    const failed = onMachine(torus, 4, 4, (world) =>
      world.allgather(1, world.rank === 2 ? { algorithm: 'allgather-ring' } : { algorithm }),
    )
    await expect(failed).rejects.toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
    await expect(failed).rejects.toThrow(/allgather\(.*auto\)/)
  })
})

const concatenation = createOperation<string>((a, b) => a + b, { name: 'concatenation' })
