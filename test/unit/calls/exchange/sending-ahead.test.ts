import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, local, type RunOptions, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { sendingAhead } from '../../../support/sending-ahead.js'

const frameBytes = 16_384
const blockBytes = 300_000
const framesOfBlock = Math.ceil(blockBytes / frameBytes)

const runtimeOf = (comm: Communicator) => comm.seat().state.runtime
const framesOf = (comm: Communicator) => runtimeOf(comm).fabric.counters.framesSent

/** Frames that each process sends in an allgather of two blocks. */
async function framesPerProcess(spaceBytes: number, options: Partial<RunOptions<undefined>> = {}) {
  const fabric = sendingAhead(
    local({ processes: 2, seed: 5, maxPayloadBytes: frameBytes, bulk: true }),
    spaceBytes,
  )
  return await run(
    async (world: Communicator) => {
      const block = new Uint8Array(blockBytes).fill(world.rank + 1)
      const into = new Uint8Array(2 * blockBytes)
      await world.barrier()
      const before = framesOf(world)
      await world.allgather(block, { into })
      const sent = framesOf(world) - before
      expect([into[0], into[blockBytes - 1], into[blockBytes], into.at(-1)]).toEqual([1, 1, 2, 2])
      await world.barrier()
      return sent
    },
    { ranks: 2, fabric, ...options },
  )
}

describe('a large message of a collective', () => {
  it('takes one latency where the fabric has space: frames with its bytes, no announcement and no answer', async () => {
    for (const frames of await framesPerProcess(blockBytes)) expect(frames).toBe(framesOfBlock)
  })

  it('is offered, and asked for, where there is no space, no credit, or an eager limit that the program has set', async () => {
    const ways = [
      [blockBytes - 1, {}],
      [blockBytes, { creditBytes: blockBytes }],
      [blockBytes, { eagerLimitBytes: 65_536 }],
    ] as const
    // The announcement of mine, and the answer to that of the other.
    for (const [space, options] of ways) {
      for (const frames of await framesPerProcess(space, options)) expect(frames).toBe(2)
    }
  })

  it('goes ahead of a receiver that rests as far as the credit, and no further', async () => {
    const creditBytes = 1_000_000
    const fabric = sendingAhead(local({ processes: 2, seed: 1, maxPayloadBytes: frameBytes }), blockBytes)
    const begun = [0, 0]
    const ahead: number[] = []
    await run(
      async (world: Communicator) => {
        const data = new Uint8Array(blockBytes).fill(7)
        for (let call = 0; call < 12; call++) {
          if (world.rank === 0) {
            for (let n = 0, last = begun[1]; n < 8; n++, last = begun[1]) {
              await turn()
              if (begun[1] !== last) n = 0
            }
            ahead.push(begun[1] - begun[0])
          }
          begun[world.rank]++
          await world.gather(data, 0)
        }
        await world.barrier()
      },
      { ranks: 2, fabric, creditBytes },
    )
    // Three that are complete at their sender, and one that is offered.
    expect(Math.max(...ahead)).toBe(Math.floor(creditBytes / blockBytes) + 1)
  })

  it('returns its credit when its communicator fails while it arrives', async () => {
    for (const wait of [0, 1, 2, 3, 5, 8]) {
      const fabric = sendingAhead(
        local({ processes: 2, seed: wait, maxPayloadBytes: frameBytes }),
        blockBytes,
      )
      await run(
        async (world: Communicator) => {
          const comm = await world.dup()
          const controller = new AbortController()
          const call = comm.allgather(new Uint8Array(blockBytes), {
            into: new Uint8Array(2 * blockBytes),
            signal: controller.signal,
          })
          const ended = call.catch(() => {})
          for (let n = 0; n < wait; n++) await turn()
          if (world.rank === 0) controller.abort()
          await ended
          // All that was on its way has arrived behind these.
          for (let n = 0; n < 3; n++) await world.barrier()
          const { inFlightBytes } = runtimeOf(world).credit.outstanding(1 - world.rank)
          const { owedBytes } = runtimeOf(world).credit.outstanding(1 - world.rank)
          expect(Math.max(inFlightBytes, owedBytes)).toBeLessThan(2 * blockBytes)
          const all = await world.allgather(Float64Array.of(inFlightBytes, owedBytes))
          // What one has in flight, the other owes.
          expect([all[0], all[2]]).toEqual([all[3], all[1]])
        },
        { ranks: 2, fabric },
      )
    }
  })
})

it('a barrier takes rounds of processes, however many ranks', async () => {
  const frames = await run(
    async (world: Communicator) => {
      await world.barrier()
      const before = framesOf(world)
      await world.barrier()
      return framesOf(world) - before
    },
    { ranks: 64, processes: 4 },
  )
  expect(new Set(frames)).toEqual(new Set([2]))
})
