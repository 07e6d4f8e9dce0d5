import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, local, strided } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { type Loans, lending } from '../../support/lending.js'
import { codeOf, onRanks } from '../../support/on-ranks.js'

type Program = (world: Communicator) => Promise<unknown>

/** What two ranks return, each in a process, and what became of the loans. */
async function exchange(sender: Program, receiver: Program, mayCopy?: () => boolean) {
  const loans: Loans = { lent: 0, copied: 0, open: 0 }
  const fabric = lending(local({ processes: 2, maxPayloadBytes: 16_384 }), loans, mayCopy)
  const main = (world: Communicator) => (world.rank === 0 ? sender : receiver)(world)
  const [sent, received] = await onRanks({ ranks: 2, fabric }, main)
  return { sent, received, loans }
}

const sizeBytes = 300_000
const data = () => Uint8Array.from({ length: sizeBytes }, (_, i) => i * 7)
const sends: Program = (world) => world.send(data(), 1)
const receives: Program = async (world) => (await world.recv(0, 0)).data
const copied: Loans = { lent: 1, copied: 1, open: 0 }
const lent: Loans = { lent: 1, copied: 0, open: 0 }

describe('a long message where processes can copy from each other', () => {
  it('is copied once, and its send completes when it has been received', async () => {
    const sender: Program = async (world) => {
      const sent = world.isend(data(), 1)
      await turn()
      const isEarly = (await sent.test()).done
      await world.send(Uint8Array.of(1), 1, 1)
      await sent.wait()
      return isEarly
    }
    const receiver: Program = async (world) => {
      await world.recv(0, 1)
      return (await world.recv(0, 0)).data
    }
    expect(await exchange(sender, receiver)).toEqual({ sent: false, received: data(), loans: copied })
  })

  it('fills the buffer of a receive, its elements in order', async () => {
    const numbers = Float64Array.from({ length: 50_000 }, (_, i) => i / 3)
    const into = new Float64Array(50_001)
    const { loans } = await exchange(
      (world) => world.send(numbers, 1),
      (world) => world.recv(0, 0, { into }),
    )
    expect([into.subarray(0, -1), into[50_000], loans]).toEqual([numbers, 0, copied])
  })

  it('is sent where a copy fails', async () => {
    const { received, loans } = await exchange(sends, receives, () => false)
    expect([received, loans]).toEqual([data(), lent])
  })

  it('is refused by a receive that is too small, and its loan ends', async () => {
    const { received, loans } = await exchange(sends, (world) =>
      codeOf(world.recv(0, 0, { into: new Uint8Array(10) })),
    )
    expect([received, loans]).toEqual(['ERR_TRUNCATE', lent])
  })

  it('can be cancelled before it is received', async () => {
    const sender: Program = async (world) => {
      const cancel = new AbortController()
      const sent = codeOf(world.send(data(), 1, 0, { signal: cancel.signal }))
      cancel.abort()
      const code = await sent
      await world.barrier()
      return code
    }
    const { sent, loans } = await exchange(sender, (world) => world.barrier())
    expect([sent, loans]).toEqual(['ERR_ABORTED', lent])
  })

  it('fails on both sides where the buffer was detached meanwhile', async () => {
    const sender: Program = async (world) => {
      const bytes = data()
      const sent = codeOf(world.send(bytes, 1))
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
      await world.send(Uint8Array.of(1), 1, 1)
      return sent
    }
    const receiver: Program = async (world) => {
      await world.recv(0, 1)
      return codeOf(world.recv(0, 0))
    }
    const ends = await exchange(sender, receiver)
    expect(ends).toEqual({ sent: 'ERR_TYPE', received: 'ERR_TYPE', loans: copied })
  })

  it('is matched by a probe, and copied when the matched message is received', async () => {
    const { received, loans } = await exchange(sends, async (world) => {
      const message = await world.mprobe(0, 0)
      return [message.sizeBytes, (await message.recv()).data]
    })
    expect([received, loans]).toEqual([[sizeBytes, data()], copied])
  })

  it('whose elements are strided is packed and sent', async () => {
    const every = strided(new Float64Array(100_000).fill(3), { count: 50_000, blockLength: 1, stride: 2 })
    const { received, loans } = await exchange((world) => world.send(every, 1), receives)
    expect([received, loans]).toEqual([new Float64Array(50_000).fill(3), { lent: 0, copied: 0, open: 0 }])
  })
})
