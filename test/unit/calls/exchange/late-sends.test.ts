import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, local, RankweaveError, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import type { CollectiveCall } from '../../../../src/calls/matching/collective-call.js'

const step = { small: 0, large: 1, late: 2 } as const

describe('an algorithm that still sends after its collective has failed', () => {
  it('sends nothing: the call rejects, and no payload stays offered', async () => {
    const large = new Uint8Array(1_000_000)
    await run(
      async (world: Communicator) => {
        const comm = await world.dup()
        const { state, localIndex } = comm.seat()
        const failure = new RankweaveError('ERR_REVOKED', 'revoked by the test')
        const call: CollectiveCall<undefined, undefined> = {
          signature: { name: 'barrier' },
          async run(_, exchange) {
            if (exchange.me === 1) {
              exchange.send(0, step.large, large)
              exchange.send(0, step.small, Uint8Array.of(1))
              await exchange.receive(0, step.late)
              return [undefined]
            }
            exchange.receive(1, step.large).catch(() => {})
            await exchange.receive(1, step.small)
            // As a frame does that is delivered between the message and the continuation of the algorithm.
            state.collectives.revoke(failure)
            exchange.send(1, step.late, large)
            return [undefined]
          },
        }
        const error = await state.collectives.call(localIndex, call, undefined).catch((cause) => cause)
        expect(error.code).toBe('ERR_REVOKED')
        for (let i = 0; i < 12; i++) await turn()
        expect(state.transfers.isIdle).toBe(true)
      },
      { ranks: 2, fabric: local({ processes: 2 }) },
    )
  })
})
