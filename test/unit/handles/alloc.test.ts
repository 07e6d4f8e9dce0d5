import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import main from '../../support/alloc-program.js'
import { coded, onRanks, thrownCode } from '../../support/on-ranks.js'

describe('memory from alloc', () => {
  it.each([
    [2, 2],
    [4, 2],
    [3, 3],
  ])('is sent like other memory on local, %i ranks on %i processes', async (ranks, processes) => {
    const reports = await run(main, { ranks, fabric: local({ processes }) })
    expect(reports.map(({ shared }) => shared)).toEqual(new Array(ranks).fill(false))
  })
})

describe('alloc', () => {
  const inWorld = <T>(look: (world: Communicator) => T) =>
    run(async (world) => look(world), { ranks: 1 }).then(([value]) => value)

  it('returns zeroed arrays of the requested type', async () => {
    const [bytes, doubles, none, big] = await inWorld((world) => [
      world.alloc(5),
      world.alloc(Float64Array, 3),
      world.alloc(Int16Array, 0),
      world.alloc(BigInt64Array, 2),
    ])
    expect(bytes).toEqual(new Uint8Array(5))
    expect(doubles).toEqual(new Float64Array(3))
    expect(none).toEqual(new Int16Array(0))
    expect(big).toEqual(new BigInt64Array(2))
  })

  it.each([
    ['ERR_COUNT', (world: Communicator) => world.alloc(-1)],
    ['ERR_COUNT', (world: Communicator) => world.alloc(1.5)],
    ['ERR_COUNT', (world: Communicator) => world.alloc(Number.NaN)],
    ['ERR_COUNT', (world: Communicator) => world.alloc(2 ** 50)],
    ['ERR_COUNT', (world: Communicator) => world.alloc(Float64Array, 2 ** 45)],
    ['ERR_COUNT', (world: Communicator) => world.alloc(Float64Array, undefined as never)],
    ['ERR_TYPE', (world: Communicator) => world.alloc(DataView as never, 3)],
    ['ERR_TYPE', (world: Communicator) => world.alloc(Array as never, 3)],
    ['ERR_TYPE', (world: Communicator) => world.alloc('8' as never)],
    ['ERR_TYPE', (world: Communicator) => world.alloc(undefined as never)],
  ] as const)('refuses with %s, case %#', async (code, call) => {
    expect(await inWorld((world) => thrownCode(() => call(world)))).toBe(code)
  })

  it('rejects a communicator that has been freed', async () => {
    await onRanks({ ranks: 2 }, async (world) => {
      const copy = await world.dup()
      await copy.free()
      expect(() => copy.alloc(1)).toThrow(coded('ERR_COMM_FREED'))
    })
  })
})
