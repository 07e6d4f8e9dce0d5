import { describe, expect, it } from 'vitest'
import type { CollectiveContext } from '../../../../src/calls/plan/collective-plan.js'
import { methodOf } from '../../../../src/calls/plan/method.js'
import { resolve } from '../../../../src/calls/plan/resolve.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import { typeCode } from '../../../../src/messages/datatype/elements.js'
import { createOperation, readyOperation } from '../../../../src/messages/datatype/operation.js'
import { coded } from '../../../support/on-ranks.js'
import { treeByBytes, tuningFileOf } from '../../../support/tuning-files.js'

const tuning = tuningFileOf({
  allgather: treeByBytes('allgather', ['allgather-ring', 100], ['allgather-recursive-doubling']),
})
const machine = parseMachine('torus:dims=3,profile=bluegene-p')

/** Calls a function with the state of a communicator, each of whose ranks is on its own process, at rank 0. */
async function onState<T>(main: (state: CollectiveContext) => T | Promise<T>, ranks = 3): Promise<T> {
  const fabric = local({ processes: ranks })
  const [first] = await run(
    async (world) => (world.rank === 0 ? { value: await main(world.seat().state) } : null),
    { ranks, fabric, tuning, machine },
  )
  return first!.value
}

const allgather = (sizeBytes: number, algorithm?: string) => ({
  collective: 'allgather' as const,
  method: algorithm === undefined ? undefined : methodOf('allgather', { algorithm }),
  sizeBytes,
})

describe('a call', () => {
  it('takes its algorithm from the call, then from the tuning file, then from the rule', async () => {
    const seen = await onState((state) =>
      [
        allgather(64, 'allgather-linear'),
        allgather(64),
        // The file's algorithm demands a power of two.
        allgather(200),
        { collective: 'alltoall' as const, method: undefined, sizeBytes: 64 },
      ].map((call) => {
        const { algorithm, choice } = resolve(state, call) as Exclude<
          ReturnType<typeof resolve>,
          Promise<unknown>
        >
        return [algorithm?.id, choice?.by, choice?.refusal === undefined]
      }),
    )
    expect(seen).toEqual([
      ['allgather-linear', 'call', true],
      ['allgather-ring', 'file', true],
      ['allgather-bruck', 'rule', false],
      ['alltoall-linear', 'rule', true],
    ])
  })

  it('that the machine decides is a promise until the machine has chosen', async () => {
    const seen = await onState(async (state) => {
      const method = methodOf('allgather', { algorithm: 'auto' }, state)
      const call = { collective: 'allgather', method, sizeBytes: 64 } as const
      const first = resolve(state, call)
      const chosen = await first
      return [
        first instanceof Promise,
        chosen.choice?.by,
        (await resolve(state, call)).algorithm === chosen.algorithm,
      ]
    })
    expect(seen).toEqual([true, 'machine', true])
  })

  it('that equals the last one of its collective is resolved once', async () => {
    const seen = await onState((state) => {
      const first = resolve(state, allgather(64))
      const between = resolve(state, { collective: 'alltoall', method: undefined, sizeBytes: 8 })
      return [
        resolve(state, allgather(64)) === first,
        resolve(state, allgather(65)) === first,
        resolve(state, allgather(64)) === first,
        between === first,
      ]
    })
    expect(seen).toEqual([true, false, false, false])
  })

  it('fails if the algorithm that it names cannot serve it', async () => {
    const refused = onState((state) => resolve(state, allgather(8, 'allgather-recursive-doubling')))
    await expect(refused).rejects.toEqual(coded('ERR_ALGORITHM', expect.stringContaining('power of two')))
  })

  it('of a reduction takes the tree where the rule avoids the algorithm that it prefers', async () => {
    const { algorithm, choice } = await onState((state) => {
      const last = createOperation<Int32Array>((_, b) => b.slice(), { name: 'last' })
      const op = readyOperation(last, typeCode.Int32Array, 1)
      return resolve(state, {
        ...{ collective: 'allreduce', method: undefined, sizeBytes: 4 },
        reduction: { op, order: 'ranks' },
      })
    }, 2)
    expect(algorithm?.id).toBe('allreduce-tree')
    expect(choice?.instead).toMatch(/^not allreduce-recursive-doubling: operation last is a function/)
  })
})
