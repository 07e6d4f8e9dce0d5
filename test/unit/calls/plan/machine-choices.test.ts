import { type Communicator, createOperation, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { MachineChoices, mostMachineChoices } from '../../../../src/calls/plan/machine-choices.js'
import type { Participants } from '../../../../src/calls/plan/participants.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import type { CommContext } from '../../../../src/messages/process/comm-context.js'

const algorithm = 'auto'
/** A ring of four nodes. */
const torus = 'torus:dims=4,profile=bluegene-p'
const ranks = 4

const onTorus = <T>(main: (world: Communicator) => Promise<T>) =>
  run(main, { fabric: local({ processes: ranks }), ranks, machine: parseMachine(torus) })

/** What has run of a collective by the machine's choice, in the order of use. */
function chosenIn(comm: Communicator, collective: string): string[] {
  return comm
    .describe()
    .collectives.filter(
      (use) => use.collective === collective && use.why.startsWith('the machine of the world'),
    )
    .map((use) => `${use.algorithm} ${use.segments}`)
}

describe('choices', () => {
  const state = {
    runtime: { options: { machine: parseMachine('cluster:nodes=2,cores=1,profile=niagara') } },
    table: { lookup: (rank: number) => rank },
    processOfRank: (rank: number) => rank,
    size: 2,
  } as unknown as CommContext
  const participants = {
    kind: 'processes',
    process: Int32Array.of(0, 1),
    firstRank: null,
  } as unknown as Participants
  const ofData = { kind: 'processes', order: 'any', canCut: true } as const

  it('are made once for a class of lengths, and 64 are retained', async () => {
    const choices = new MachineChoices(state, () => participants)
    const bytesOf = (power: number) => 2 ** power
    const first = await choices.choiceFor({ ...ofData, collective: 'bcast', sizeBytes: 1000 })
    // Known, so there is no promise; 1,100 bytes are of the same class.
    expect(choices.choiceFor({ ...ofData, collective: 'bcast', sizeBytes: 1100 })).toBe(first)
    expect(first).toMatchObject({ chosenFor: 'units of 1024 bytes' })
    expect(first!.algorithm.collective).toBe('bcast')
    for (const collective of ['barrier', 'scan', 'exscan', 'gather', 'scatter'] as const)
      for (let power = 0; power < 17; power++)
        await choices.choiceFor({ ...ofData, collective, sizeBytes: bytesOf(power) })
    expect(choices.count).toBe(mostMachineChoices)
    expect(mostMachineChoices).toBe(64)
  })

  it('are shared by calls that begin meanwhile', async () => {
    const choices = new MachineChoices(state, () => participants)
    const call = { ...ofData, collective: 'allreduce', sizeBytes: 64, order: 'tree' } as const
    const [one, other] = [choices.choiceFor(call), choices.choiceFor(call)]
    expect(other).toBe(one)
    expect(await one).toBe(await other)
    expect(choices.count).toBe(1)
  })

  it('leave calls to the rule where there are too many participants', async () => {
    const choices = new MachineChoices(state, () => null)
    expect(await choices.choiceFor({ ...ofData, collective: 'allreduce', sizeBytes: 8 })).toBeNull()
  })
})

describe('auto', () => {
  it('chooses the same on all ranks, by the length of the data', async () => {
    const uses = await onTorus(async (world) => {
      for (const length of [1, 20_000]) {
        await world.allgather(new Float64Array(length), { algorithm })
        await world.allreduce(new Int32Array(length), 'sum', { algorithm })
      }
      const { collectives } = world.describe()
      return collectives.map((use) => `${use.collective} ${use.algorithm} ${use.segments} ${use.why}`).sort()
    })
    for (const each of uses) expect(each).toEqual(uses[0])
    expect(uses[0].length).toBeGreaterThan(2)
    expect(uses[0].every((use) => use.includes('the machine of the world: units of '))).toBe(true)
    // Long data follow the network.
    expect(uses[0].some((use) => /-(bucket|reordered)/.test(use))).toBe(true)
  })

  it('keeps what a reduction promises: bits of the tree, and the order of ranks', async () => {
    await onTorus(async (world) => {
      const data = Float64Array.from({ length: 400 }, (_, i) => 1 / (1 + i + world.rank))
      const promised = await world.allreduce(data, 'sum')
      expect(await world.allreduce(data, 'sum', { algorithm })).toEqual(promised)
      const any = (await world.allreduce(data, 'sum', { algorithm, order: 'any' })) as Float64Array
      any.forEach((value, i) => {
        expect(value).toBeCloseTo((promised as Float64Array)[i], 10)
      })
      const last = createOperation<Int32Array>((_, b) => b.slice(), { name: 'last' })
      expect(await world.allreduce(Int32Array.of(world.rank), last, { algorithm })).toEqual(
        Int32Array.of(ranks - 1),
      )
      expect(await world.scan(String(world.rank), concatenation, { algorithm })).toBe(
        Array.from({ length: world.rank + 1 }, (_, i) => String(i)).join(''),
      )
      expect(chosenIn(world, 'allreduce').length).toBeGreaterThan(1)
    })
  })

  it('takes its place at once: calls that are not awaited keep their order', async () => {
    await onTorus(async (world) => {
      const first = world.allreduce(Int32Array.of(1), 'sum', { algorithm })
      const second = world.barrier()
      const third = world.bcast(world.rank === 2 ? Int32Array.of(7, 8) : null, 2, { algorithm })
      const fourth = world.allgather(Int32Array.of(world.rank))
      expect(await fourth).toEqual(Int32Array.from({ length: ranks }, (_, i) => i))
      expect(await third).toEqual(Int32Array.of(7, 8))
      await second
      expect(await first).toEqual(Int32Array.of(ranks))
    })
  })

  it('serves persistent requests', async () => {
    await onTorus(async (world) => {
      const into = new Int32Array(ranks * 300)
      const given = Int32Array.from({ length: 300 }, (_, i) => 300 * world.rank + i)
      const sum = new Int32Array(300)
      const requests = [
        world.allgatherInit(given, into, { algorithm }),
        world.allreduceInit(given, sum, 'sum', { algorithm }),
        world.bcastInit(into, 3, { algorithm }),
        world.barrierInit({ algorithm }),
      ]
      for (let round = 0; round < 2; round++) for (const request of requests) await request.start()
      expect(into).toEqual(Int32Array.from({ length: ranks * 300 }, (_, i) => i))
      expect(sum).toEqual(Int32Array.from({ length: 300 }, (_, i) => 300 * 6 + ranks * i))
      for (const request of requests) request.free()
    })
  })

  it('lets the root name the algorithm of a broadcast, with its parameters', async () => {
    const uses = await onTorus(async (world) => {
      for (const length of [1, 100_000]) {
        const data = Uint8Array.from({ length }, (_, i) => i % 251)
        expect(await world.bcast(world.rank === 1 ? data : null, 1, { algorithm })).toEqual(data)
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
    await onTorus(async (world) => {
      const refused = { code: 'ERR_ARGUMENT' }
      await expect(world.allgather(1, { algorithm, segments: 2 })).rejects.toMatchObject(refused)
      await expect(world.allgather(1, { algorithm: 'auto:segments=2' })).rejects.toMatchObject(refused)
    })
  })

  it('is refused where the rank table is in parts', async () => {
    await onTorus(async (world) => {
      // Ranks 0, 1 and 3 are no progression.
      const color = world.rank === 2 ? null : 0
      const part = await world.split(color, 0, { table: 'distributed', selfHostRows: 0 })
      if (part === null) return
      const refused = {
        code: 'ERR_ALGORITHM',
        message: expect.stringContaining('the rank table is distributed'),
      }
      await expect(part.bcast(1, 0, { algorithm })).rejects.toMatchObject(refused)
      await expect(part.allreduce(1, 'sum', { algorithm })).rejects.toMatchObject(refused)
    })
  })

  it('is what ranks are told that name other algorithms', async () => {
    const failed = onTorus((world) =>
      world.allgather(1, world.rank === 2 ? { algorithm: 'allgather-ring' } : { algorithm }),
    )
    await expect(failed).rejects.toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
    await expect(failed).rejects.toThrow(/allgather\(.*auto\)/)
  })
})

const concatenation = createOperation<string>((a, b) => a + b, { name: 'concatenation' })
