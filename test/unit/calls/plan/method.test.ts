import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'
import { createOperation } from '../../../../src/messages/datatype/operation.js'

/**
 * What every rank of three processes gets from a call: its error's code, or 'done'; and that the world still
 * works.
 */
async function codesOf(call: (world: Communicator) => Promise<unknown>): Promise<unknown[]> {
  const main = async (world: Communicator) => {
    let code = 'done'
    try {
      await call(world)
    } catch (error) {
      code = isRankweaveError(error) ? error.code : String(error)
    }
    if (code !== 'ERR_COLLECTIVE_MISMATCH') expect(await world.allreduce(1, 'sum')).toBe(3)
    return code
  }
  return run(main, { ranks: 3, fabric: local({ processes: 3 }) })
}

const all = (code: string) => [code, code, code]
const floats = new Float64Array(6)

describe('the method of a collective', () => {
  it.each([
    { algorithm: 'allreduce-best' },
    { algorithm: 'bcast-binomial' },
    { algorithm: 3 as unknown as string },
    { segments: 0 },
    { segments: 1.5 },
    { segments: 5000 },
    { order: 'rank' as 'any' },
  ])('that does not exist is refused before anything is sent: %j', async (options) => {
    expect(await codesOf((world) => world.allreduce(floats, 'sum', options))).toEqual(all('ERR_ARGUMENT'))
  })

  it('is left to the rule by options that are null', async () => {
    const none = null as unknown as undefined
    expect(await codesOf((world) => world.barrier(none))).toEqual(all('done'))
    expect(await codesOf((world) => world.allreduce(floats, 'sum', none))).toEqual(all('done'))
  })

  it('that would change the bits of floating-point numbers is refused unless any order is permitted', async () => {
    const algorithm = 'allreduce-ring'
    expect(await codesOf((world) => world.allreduce(floats, 'sum', { algorithm }))).toEqual(
      all('ERR_ALGORITHM'),
    )
    const inAnyOrder = { algorithm, order: 'any' as const }
    expect(await codesOf((world) => world.allreduce(floats, 'sum', inAnyOrder))).toEqual(all('done'))
    expect(await codesOf((world) => world.allreduce(floats, 'min', { algorithm }))).toEqual(all('done'))
    expect(await codesOf((world) => world.allreduce(new Int8Array(6), 'sum', { algorithm }))).toEqual(
      all('done'),
    )
  })

  it('that does not combine in rank order is refused for an operation that does not commute', async () => {
    const add = (a: Int32Array, b: Int32Array) => a.map((value, i) => value + b[i])
    const apart = createOperation<Int32Array>(add)
    const together = createOperation<Int32Array>(add, { commutative: true })
    const algorithm = 'allreduce-ring'
    for (const operation of [apart, together]) {
      const call = (world: Communicator) => world.allreduce(new Int32Array(6), operation, { algorithm })
      expect(await codesOf(call)).toEqual(all('ERR_ALGORITHM'))
    }
    const doubling = { algorithm: 'allreduce-recursive-doubling' }
    const call = (world: Communicator) => world.allreduce(new Int32Array(6), apart, doubling)
    expect(await codesOf(call)).toEqual(all('done'))
  })

  it('that is not the same on all ranks is reported, by its name where it is an algorithm', async () => {
    const call = (world: Communicator) =>
      world.allreduce(new Int32Array(6), 'sum', world.rank === 1 ? { algorithm: 'allreduce-ring' } : {})
    const codes = await codesOf(call)
    expect(new Set(codes)).toEqual(new Set(['ERR_COLLECTIVE_MISMATCH']))
  })
})
