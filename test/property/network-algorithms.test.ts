import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { parseAlgorithm } from '../../src/collective/algorithm-text.js'
import { algorithmOf, algorithms } from '../../src/collective/algorithms.js'
import { checkOfCollective } from '../../src/conformance/algorithm-checks.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { refusal } from '../support/refusal.js'

const ids = algorithms.filter(({ followsGrid }) => followsGrid === true).map(({ id }) => id)

/**
 * Texts of settings of an algorithm.
 *
 * @param paths through the nodes that there are at most
 */
function settingsOf(id: string, ports: readonly number[], order: string, paths: number): string[] {
  const names = Object.keys(algorithmOf(id).parameters!)
  const shuffles = names.includes('shuffle') ? [0, 1] : [0]
  const others = id.endsWith('-reordered')
    ? ['network', 'doubling', 'halving', 'path', order].map((each) => `order=${each}`)
    : ['doubling=0', 'doubling=1']
  const each = ports.flatMap((count) =>
    others
      .filter((other) => other !== 'order=path' || count <= paths)
      .map((other) => `${id}:ports=${count},${other}`),
  )
  return each.flatMap((text) => shuffles.map((is) => (is === 0 ? text : `${text},shuffle=1`)))
}

/** Checks a setting, which must have been used. */
async function checkSetting(comm: Communicator, text: string, lengths: readonly number[]): Promise<void> {
  const { id, collective } = parseAlgorithm(text).algorithm
  for (const length of lengths) {
    const given = { slot: 3 + length, length, root: comm.size - 1 }
    await checkOfCollective.get(collective)!(comm, { algorithm: text }, given)
  }
  const used = comm.describe().collectives.some(({ algorithm }) => algorithm === id)
  if (!used) throw new Error(`${text} was not used`)
}

const worlds = [
  ['torus:dims=2x2x2', 8, 8, [1, 3, 6], '2.1.0'],
  ['mesh:dims=2x2,cores=2', 8, 8, [1, 3], '0.1.2'],
  // A process is on the core of its first rank: half the torus, 1x3x2.
  ['torus:dims=2x3x2', 12, 6, [1, 2], '2.1.0'],
  ['clos:radix=4,levels=2,nodes=8,cores=1', 7, 7, [1], '1.0.2'],
] as const

/** A fifth of the settings, others in other worlds: `property/ways.test.ts` draws of all. */
const inTurn = (settings: readonly string[], turn: number) => settings.filter((_, n) => (n + turn) % 5 === 0)

describe.each(worlds.map((world, turn) => [...world, turn] as const))(
  'on %s, %i ranks in %i processes',
  (text, ranks, processes, ports, order, turn) => {
    it.each(ids)('%s serves calls of the world and of splits', async (id) => {
      const machine = parseMachine(text)
      const paths = machine.kind === 'torus' ? machine.dims.length : 1
      const served = ports.filter((count) => id.endsWith('-bucket') || count < 6)
      await run(
        async (world) => {
          for (const setting of inTurn(settingsOf(id, served, order, paths), turn))
            await checkSetting(world, setting, [33])
          // Members in other orders, of regular and of irregular parts.
          for (const color of [world.rank % 2, world.rank < 5 ? 0 : 1]) {
            const part = await world.split(color, -world.rank)
            for (const setting of inTurn(settingsOf(id, [1], 'halving', 1), turn))
              await checkSetting(part!, setting, [2])
          }
          const alone = await world.split(world.rank)
          await checkOfCollective.get(algorithmOf(id).collective)!(
            alone!,
            { algorithm: id },
            { slot: 1, length: 3, root: 0 },
          )
        },
        { fabric: local({ processes }), ranks, machine },
      )
    })
  },
)

describe('a call', () => {
  const machine = parseMachine('torus:dims=2x3x2')
  const onTorus = <T>(main: (world: Communicator) => Promise<T>) =>
    run(main, { fabric: local({ processes: 12 }), ranks: 12, machine })

  it.each([
    [
      'allgather-bucket:ports=4',
      undefined,
      'ports must be at most the number of dimensions, 3, or twice that',
    ],
    ['allgather-bucket:ports=6', 4, 'the number of segments must be a multiple of 6'],
    ['allgather-reordered:ports=4', undefined, 'ports must be at most 3, one for each dimension'],
    ['allgather-reordered:order=0.1.2.3.4', undefined, 'the order must be of the bits 0 to 3'],
    ['allgather-reordered:order=0.1.2', undefined, 'the order must be of the bits 0 to 3'],
  ])('with %s and %s segments is refused on all ranks', async (algorithm, segments, reason) => {
    const options = segments === undefined ? { algorithm } : { algorithm, segments }
    await onTorus(async (world) => {
      await expect(world.allgather(Int32Array.of(world.rank), options)).rejects.toMatchObject(
        refusal('ERR_ALGORITHM', reason),
      )
      expect([...((await world.allgather(Int32Array.of(world.rank))) as Int32Array)]).toHaveLength(12)
    })
  })

  it('with an order that is none is refused by its text', async () => {
    await onTorus(async (world) => {
      const order = (text: string) => world.allgather(1, { algorithm: `allgather-reordered:order=${text}` })
      for (const text of ['0.0', 'up', '0.', ''])
        await expect(order(text)).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
    })
  })

  it('rounds the segments that bytes make up to a multiple of the sections', async () => {
    await onTorus(async (world) => {
      const data = Int32Array.from({ length: 100 }, (_, i) => 100 * world.rank + i)
      const algorithm = 'allgather-bucket:ports=3,segment=100'
      const all = (await world.allgather(data, { algorithm })) as Int32Array
      expect(all).toEqual(Int32Array.from({ length: 1200 }, (_, i) => i))
      const [used] = world.describe().collectives.filter((each) => each.algorithm?.includes('ports=3'))
      expect(used.segments).toBe(6)
    })
  })

  it('that is persistent follows the network', async () => {
    await onTorus(async (world) => {
      const into = new Int32Array(12 * 5)
      const given = Int32Array.from({ length: 5 }, (_, i) => 5 * world.rank + i)
      const gather = world.allgatherInit(given, into, { algorithm: 'allgather-bucket:ports=6' })
      const sum = new Int32Array(5)
      const algorithm = 'allreduce-bucket:ports=3,doubling=1'
      const reduce = world.allreduceInit(given, sum, 'sum', { algorithm })
      const cast = world.bcastInit(into, 3, { algorithm: 'bcast-reordered:ports=3' })
      for (let round = 0; round < 2; round++) {
        for (const request of [gather, reduce, cast]) await request.start()
        expect(into).toEqual(Int32Array.from({ length: 60 }, (_, i) => i))
        expect(sum).toEqual(Int32Array.from({ length: 5 }, (_, i) => 330 + 12 * i))
      }
      for (const request of [gather, reduce, cast]) request.free()
    })
  })

  it('of a communicator whose table is in parts is refused, for no process knows all places', async () => {
    await onTorus(async (world) => {
      // Neither a progression of ranks nor few enough for a table of their own.
      const color = [0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1][world.rank]
      const part = await world.split(color, 0, { table: 'distributed', selfHostRows: 0 })
      const reason = 'the rank table is distributed'
      const refused = { code: 'ERR_ALGORITHM', message: expect.stringContaining(reason) }
      const given = Int32Array.of(world.rank)
      await expect(part!.bcast(given, 0, { algorithm: 'bcast-bucket' })).rejects.toMatchObject(refused)
      await expect(part!.allreduce(given, 'sum', { algorithm: 'allreduce-reordered' })).rejects.toMatchObject(
        refused,
      )
      await expect(part!.allgather(given, { algorithm: 'allgather-bucket' })).rejects.toMatchObject(refused)
    })
  })

  it('on a world without a machine goes along the line of its ranks', async () => {
    await run(
      async (world) => {
        const given = Int32Array.of(world.rank)
        for (const algorithm of ['allgather-bucket:ports=2', 'allgather-reordered:order=halving'])
          expect(await world.allgather(given, { algorithm })).toEqual(Int32Array.of(0, 1, 2, 3, 4))
        await expect(world.allgather(given, { algorithm: 'allgather-bucket:ports=3' })).rejects.toMatchObject(
          {
            code: 'ERR_ALGORITHM',
          },
        )
      },
      { fabric: local({ processes: 5 }), ranks: 5 },
    )
  })
})
