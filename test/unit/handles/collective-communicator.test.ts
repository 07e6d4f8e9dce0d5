import { describe, expect, it } from 'vitest'
import { callByName, collectiveForms } from '../../../src/conformance/collective-forms.js'
import { local } from '../../../src/fabric/local/local.js'
import { Communicator } from '../../../src/handles/communicator.js'
import { run } from '../../../src/launch/run.js'
import { Request, waitall } from '../../../src/messages/p2p/request.js'
import { coded, codeOf, onRanks } from '../../support/on-ranks.js'

/** The methods of a communicator. */
const methods: string[] = []
for (let from: object = Communicator.prototype; from !== Object.prototype; from = Object.getPrototypeOf(from))
  methods.push(...Object.getOwnPropertyNames(from))

it('every collective has a method, one that begins with i and one that ends with Init, and no other has', async () => {
  const names = await onRanks(
    {
      ranks: 1,
    },
    (world: Communicator) => Promise.resolve(Object.keys(collectiveForms(world, 1).cases)),
  )
  const [calls] = names
  expect(methods).toEqual(expect.arrayContaining(calls.flatMap((name) => [name, `i${name}`, `${name}Init`])))
  expect(methods.filter((name) => name.endsWith('Init')).sort()).toEqual(
    calls.map((name) => `${name}Init`).sort(),
  )
  const messages = ['isend', 'issend', 'irecv', 'iprobe', 'improbe']
  const started = methods.filter((name) => methods.includes(name.slice(1)) && name.startsWith('i'))
  expect(started.filter((name) => !messages.includes(name)).sort()).toEqual(
    calls.map((name) => `i${name}`).sort(),
  )
})

describe.each([1, 2, 5])('on %i processes', (processes) => {
  const options = { ranks: 5, fabric: local({ processes, seed: 11 }) }

  it('a rank continues until it waits, and messages decide when its collective completes', async () => {
    await run(async (world: Communicator) => {
      const { runtime } = world.seat().state
      const barrier = world.ibarrier()
      if (world.rank === 0) {
        expect(runtime.waits.isBlocked(0)).toBe(false)
        await world.barrier()
        return
      }
      await barrier.wait()
      await world.barrier()
      expect(runtime.waits.withSignal).toBe(0)
    }, options)
  })

  it('a collective that not every rank starts is a deadlock for those that wait', async () => {
    const codes: string[] = []
    let allFailed = () => {}
    const failures = new Promise<void>((resolve) => {
      allFailed = resolve
    })
    const ended = run(async (world: Communicator) => {
      const waits = world.rank === 0 ? world.recv(1, 5) : waitall([world.iallreduce(world.rank, 'sum')])
      if (codes.push(await codeOf(() => waits)) === world.size) allFailed()
      await waits
    }, options)
    await expect(ended).rejects.toMatchObject({ code: 'ERR_DEADLOCK' })
    // The world ends with the error of the first rank; the others may still be about to see theirs.
    await failures
    expect(codes).toEqual(new Array(5).fill('ERR_DEADLOCK'))
  })

  it('a rank that does not fit fails alone, when it waits', async () => {
    await run(async (world: Communicator) => {
      const into = new Float32Array(world.rank === 2 ? 1 : 2)
      const request = world.iallreduce(Float32Array.of(1, 2), 'sum', { into })
      await world.barrier()
      expect(await codeOf(() => request.wait())).toBe(world.rank === 2 ? 'ERR_TRUNCATE' : 'none')
    }, options)
  })

  it('wrong arguments and a freed communicator throw', async () => {
    await run(async (world: Communicator) => {
      expect(() => world.ibcast(1, 9)).toThrow(coded('ERR_RANK'))
      const block = Int8Array.of(1)
      for (const name of ['gather', 'gatherv']) {
        expect([name, await codeOf(() => callByName(world, name, [block, null]))]).toEqual([name, 'ERR_RANK'])
        expect(() => callByName(world, `i${name}`, [block, null])).toThrow(coded('ERR_RANK'))
      }
      expect(() => world.iallreduce(Float64Array.of(1), 'band' as 'sum')).toThrow(coded('ERR_OP'))
      expect(() => world.ibarrier({ algorithm: 'x' })).toThrow(coded('ERR_ARGUMENT'))
      const copy = await world.dup()
      const pending = copy.iscan(1, 'sum')
      const freed = copy.free()
      expect(() => copy.ibarrier()).toThrow(coded('ERR_COMM_FREED'))
      expect(await pending.wait()).toBe(world.rank + 1)
      await freed
    }, options)
  })

  it('a request of a collective cannot be cancelled; its signal revokes the communicator', async () => {
    await run(async (world: Communicator) => {
      const copy = await world.dup()
      const controller = new AbortController()
      const request = world.rank === 0 ? copy.ibarrier({ signal: controller.signal }) : null
      if (request !== null) {
        expect(() => request.cancel()).toThrow(coded('ERR_REQUEST'))
        setImmediate(() => controller.abort())
        expect(await codeOf(() => request.wait())).toBe('ERR_ABORTED')
      }
      await world.barrier()
      expect(await codeOf(() => copy.ibarrier().wait())).toBe('ERR_REVOKED')
    }, options)
  })

  it('a signal ends a wait alone', async () => {
    await run(async (world: Communicator) => {
      const controller = new AbortController()
      const request = world.rank === 0 ? null : world.ibarrier()
      if (request !== null) {
        setImmediate(() => controller.abort())
        expect(await codeOf(() => request.wait({ signal: controller.signal }))).toBe('ERR_ABORTED')
        await world.send(null, 0)
        await request.wait()
        return
      }
      for (let rank = 1; rank < world.size; rank++) await world.recv()
      await world.ibarrier().wait()
    }, options)
  })
})

it('an error that no wait asks for is not an unhandled rejection', async () => {
  const outcome = await onRanks({ ranks: 2 }, async (world: Communicator) => {
    const request = world.rank === 0 ? world.ibarrier() : world.iallreduce(1, 'sum')
    expect(request).toBeInstanceOf(Request)
    await new Promise((resolve) => setImmediate(resolve))
    return codeOf(() => world.barrier())
  })
  expect(outcome).toEqual(['ERR_COLLECTIVE_MISMATCH', 'ERR_COLLECTIVE_MISMATCH'])
})
