import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import type { CollectiveCall } from '../../../../src/calls/matching/collective-call.js'

/** A communicator whose collectives offer large messages in pieces of this size instead of 1 GiB. */
async function cutInto(pieceBytes: number, world: Communicator): Promise<Communicator> {
  const comm = await world.dup()
  await comm.barrier()
  // No rank calls its next collective before all have changed what it will use.
  await world.barrier()
  const { state } = comm.seat()
  for (const lane of state.collectives.lanes) {
    lane.spareExchange = lane.newExchange(pieceBytes)
  }
  await world.barrier()
  return comm
}

const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

describe.each([true, false])('a message offered in pieces, bulk %s', (bulk) => {
  const fabric = local({ processes: 2, seed: 3, maxPayloadBytes: 16_384, bulk })

  it.each([65_536, 100_001, 131_072])('arrives whole, %i bytes', async (length) => {
    await run(
      async (world: Communicator) => {
        const comm = await cutInto(65_536, world)
        const data = Uint8Array.from({ length }, (_, i) => (i * 7 + world.rank) % 251)
        for (let call = 0; call < 3; call++) {
          const got = await comm.bcast(world.rank === 1 ? data : null, 1)
          expect(got[length - 1]).toBe(((length - 1) * 7 + 1) % 251)
          const all = await comm.allgather(data)
          expect(isSame(all.subarray(world.rank * length, (world.rank + 1) * length), data)).toBe(true)
          expect(isSame(all.subarray(length), got)).toBe(true)
        }
        await comm.free()
      },
      { ranks: 2, fabric },
    )
  })

  it('is given up as a whole when the receiver aborts while it arrives', async () => {
    for (const wait of [0, 1, 2, 4, 7]) {
      await run(
        async (world: Communicator) => {
          const comm = await cutInto(70_000, world)
          const { state } = comm.seat()
          const data = new Uint8Array(700_001).fill(1)
          const controller = new AbortController()
          const into = new Uint8Array(world.rank === 0 ? data.length : 0)
          const call = comm.bcast(world.rank === 1 ? data : null, 1, {
            signal: controller.signal,
            ...(world.rank === 0 ? { into } : {}),
          })
          const ended = call.then(
            () => 'done',
            () => 'failed',
          )
          if (world.rank === 0) {
            for (let i = 0; i < wait; i++) await turn()
            controller.abort()
          }
          if ((await ended) === 'failed') into.fill(2)
          for (let i = 0; i < 12; i++) await turn()
          expect(state.transfers.isIdle).toBe(true)
          expect(new Set(into).size).toBeLessThan(2)
        },
        { ranks: 2, fabric },
      )
    }
  })

  /** Rank 1 sends 131,072 bytes, which rank 0 takes when `isTaken`; what was reported to rank 1, and when. */
  async function reported(pieceBytes: number, isTaken: boolean): Promise<string[]> {
    const log: string[] = []
    await run(
      async (world: Communicator) => {
        const comm = await cutInto(pieceBytes, world)
        const { state, localIndex } = comm.seat()
        const controller = new AbortController()
        const call: CollectiveCall<null, null> = {
          signature: { name: 'barrier' },
          run: async (_, exchange) => {
            if (world.rank === 1) {
              exchange.send(0, 0, new Uint8Array(131_072), () => log.push('sent'))
              exchange.send(0, 1, Uint8Array.of(1), () => log.push('short sent'))
              await exchange.receive(0, 2)
              log.push(isTaken ? 'before' : 'aborting')
              if (!isTaken) controller.abort()
              exchange.send(0, 3, Uint8Array.of(1))
              await new Promise<void>((resolve) => exchange.whenSent(resolve))
              log.push('all returned')
            } else {
              await exchange.receive(1, 1)
              exchange.send(1, 2, Uint8Array.of(1))
              await exchange.receive(1, 3)
              await exchange.receive(1, 0)
            }
            return [null]
          },
        }
        const options = world.rank === 1 ? { signal: controller.signal } : {}
        await state.collectives.call(localIndex, call, null, options).catch(() => {})
      },
      { ranks: 2, fabric },
    )
    return log
  }

  it.each([40_000, 65_536, 1_000_000])(
    'is reported as sent once, when all are taken (%i bytes)',
    async (size) => {
      expect(await reported(size, true)).toEqual(['short sent', 'before', 'sent', 'all returned'])
    },
  )

  it('is not reported as sent when it is withdrawn', async () => {
    expect(await reported(40_000, false)).toEqual(['short sent', 'aborting', 'all returned'])
  })
})
