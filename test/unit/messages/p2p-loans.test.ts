import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import type { RankweaveError } from '../../../src/errors.js'
import { local } from '../../../src/fabric/local/local.js'
import { run } from '../../../src/launch/run.js'
import { strided } from '../../../src/messages/datatype/strided-view.js'
import { type Loans, lending } from '../../support/lending.js'

type Program = (world: Communicator) => Promise<unknown>

/** Runs two ranks, each in a process, and returns their results and what became of the loans. */
async function withLoans(program: Program, mayCopy?: () => boolean) {
  const loans: Loans = { lent: 0, copied: 0, open: 0 }
  const fabric = lending(local({ processes: 2, maxPayloadBytes: 16_384 }), loans, mayCopy)
  const results = await run(program, { ranks: 2, fabric })
  return { loans, results }
}

const sizeBytes = 300_000
const data = () => Uint8Array.from({ length: sizeBytes }, (_, i) => i * 7)

describe('a long message where processes can copy from each other', () => {
  it('is copied once, and its send completes when it has been received', async () => {
    const { loans, results } = await withLoans(async (world) => {
      if (world.rank === 1) {
        await world.recv(0, 1)
        return (await world.recv(0, 0)).data
      }
      const sent = world.isend(data(), 1)
      await turn()
      const isEarly = (await sent.test()).done
      await world.send(Uint8Array.of(1), 1, 1)
      await sent.wait()
      return isEarly
    })
    expect(results).toEqual([false, data()])
    expect(loans).toEqual({ lent: 1, copied: 1, open: 0 })
  })

  it('fills the buffer of a receive, its elements in order', async () => {
    const { loans, results } = await withLoans(async (world) => {
      if (world.rank === 0)
        return world.send(
          Float64Array.from({ length: 50_000 }, (_, i) => i / 3),
          1,
        )
      const into = new Float64Array(50_001)
      await world.recv(0, 0, { into })
      return [into[0], into[49_999], into[50_000]]
    })
    expect(results[1]).toEqual([0, 49_999 / 3, 0])
    expect(loans.copied).toBe(1)
  })

  it('is sent where a copy fails', async () => {
    const { loans, results } = await withLoans(
      async (world) => (world.rank === 0 ? world.send(data(), 1) : (await world.recv(0, 0)).data),
      () => false,
    )
    expect(results[1]).toEqual(data())
    expect(loans).toEqual({ lent: 1, copied: 0, open: 0 })
  })

  it('is refused by a receive that is too small, and its loan ends', async () => {
    const { loans, results } = await withLoans(async (world) => {
      if (world.rank === 0) return world.send(data(), 1)
      const refused = world.recv(0, 0, { into: new Uint8Array(10) })
      return refused.catch((error: RankweaveError) => error.code)
    })
    expect(results[1]).toBe('ERR_TRUNCATE')
    expect(loans).toEqual({ lent: 1, copied: 0, open: 0 })
  })

  it('can be cancelled before it is received', async () => {
    const { loans, results } = await withLoans(async (world) => {
      let outcome: unknown
      if (world.rank === 0) {
        const cancel = new AbortController()
        const sent = world.send(data(), 1, 0, { signal: cancel.signal })
        const ended = sent.catch((error: RankweaveError) => error.code)
        cancel.abort()
        outcome = await ended
      }
      await world.barrier()
      return outcome
    })
    expect(results[0]).toBe('ERR_ABORTED')
    expect(loans).toEqual({ lent: 1, copied: 0, open: 0 })
  })

  it('fails on both sides where the buffer was detached meanwhile', async () => {
    const { loans, results } = await withLoans(async (world) => {
      if (world.rank === 1) {
        await world.recv(0, 1)
        return world.recv(0, 0).catch((error: RankweaveError) => error.code)
      }
      const bytes = data()
      const sent = world.send(bytes, 1).catch((error: RankweaveError) => error.code)
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
      await world.send(Uint8Array.of(1), 1, 1)
      return sent
    })
    expect(results).toEqual(['ERR_TYPE', 'ERR_TYPE'])
    expect(loans).toEqual({ lent: 1, copied: 1, open: 0 })
  })

  it('is matched by a probe, and copied when the matched message is received', async () => {
    const { loans, results } = await withLoans(async (world) => {
      if (world.rank === 0) return world.send(data(), 1)
      const message = await world.mprobe(0, 0)
      return [message.sizeBytes, (await message.recv()).data]
    })
    expect(results[1]).toEqual([sizeBytes, data()])
    expect(loans).toEqual({ lent: 1, copied: 1, open: 0 })
  })

  it('whose elements are strided is packed and sent', async () => {
    const vector = { count: 50_000, blockLength: 1, stride: 2 } as const
    const { loans, results } = await withLoans(async (world) => {
      if (world.rank === 0) return world.send(strided(new Float64Array(100_000).fill(3), vector), 1)
      const { count, data: got } = await world.recv<Float64Array>(0, 0)
      return [count, got[49_999]]
    })
    expect(results[1]).toEqual([50_000, 3])
    expect(loans).toEqual({ lent: 0, copied: 0, open: 0 })
  })
})
