import { isRankweaveError, type RankweaveError, run, websocket } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'
import type { Part } from '../../../support/threads-program.js'

const program = compiledUrl('threads-program.ts')
/** Ranks 0 and 1 on process 0, rank 2 on process 1. */
const fabric = websocket({ ranksPerProcess: [2, 1] })

const start = (args: Part) => run<unknown, Part>(program, { ranks: 3, fabric, args })

async function failure(promise: Promise<unknown>): Promise<RankweaveError> {
  const error = await promise.then(
    (value) => new Error(`expected an error, got ${String(value)}`),
    (reason: unknown) => reason,
  )
  if (!isRankweaveError(error)) throw error
  return error
}

/** Handles of processes and sockets among the active resources of this process. */
const handles = () => process.getActiveResourcesInfo().filter((type) => /process|tcp/i.test(type))

describe('a world on processes connected by WebSockets', () => {
  it('results are serialized, in rank order; nothing stays behind', async () => {
    const before = handles()
    const results = await start({ kind: 'values' })
    expect(results).toEqual(
      [0, 1, 2].map((rank) => ({
        rank,
        map: new Map([[1, Float64Array.of(rank)]]),
        none: undefined,
        big: 2n ** 70n,
      })),
    )
    // Handles that are being closed are gone a turn later.
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(handles()).toEqual(before)
  })

  it('args in shared memory are refused, because every process would have a copy', async () => {
    const seen = new Int32Array(new SharedArrayBuffer(4))
    const error = await failure(run(program, { ranks: 3, fabric, args: { seen } }))
    expect([error.code, error.message]).toEqual(['ERR_CLONE', expect.stringMatching(/do not share memory/)])
  })

  it('results that cannot be serialized are rejected with the rank', async () => {
    const error = await failure(start({ kind: 'function result' }))
    expect(error.code).toBe('ERR_CLONE')
    expect(error.details).toEqual({ rank: 2 })
  })

  it('an error of a rank ends the world, rebuilt with class, code and details', async () => {
    const error = await failure(start({ kind: 'throw', rank: 2 }))
    expect(error.code).toBe('ERR_TOPOLOGY')
    expect(error.message).toBe('on purpose')
    expect(error.details).toEqual({ rank: 2 })
  })

  it('a lost process: the others continue, and run reports which is lost', async () => {
    const error = await failure(start({ kind: 'exit', rank: 2 }))
    expect(error.code).toBe('ERR_PEER_LOST')
    expect(error.details).toEqual({ process: 1 })
    expect(error.message).toContain('its process ended with code 7')
  })

  it('a program that removes all listeners and sends messages of its own returns its results', async () => {
    const program = compiledUrl('own-channels-program.ts')
    expect(await run(program, { ranks: 2, fabric: 'websocket' })).toEqual([0, 1])
  })

  it('a rank that awaits what nothing can settle is named', async () => {
    const error = await failure(start({ kind: 'never settles', rank: 2 }))
    expect(error.code).toBe('ERR_DEADLOCK')
    expect(error.message).toContain('rank 2 cannot continue: nothing is left in this process to wake it')
  })
})
