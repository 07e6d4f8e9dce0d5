import { local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { runInPage } from '../../../src/browser/run.js'
import { cluster } from '../../../src/machine/machine.js'
import { treeByBytes, tuningFileOf } from '../../support/tuning-files.js'

describe('run in a page', () => {
  it('returns what run on local returns, in rank order, on the processes that are asked for', async () => {
    const main = async (world: Parameters<Parameters<typeof runInPage>[0]>[0], args: number) => [
      world.rank,
      world.location.process,
      await world.allreduce(world.rank + args, 'sum'),
    ]
    const options = { ranks: 5, processes: 2, args: 10 }
    const results = await runInPage(main, options)
    expect(results).toEqual(await run(main, options))
    expect(results[4]).toEqual([4, 1, 60])
  })

  it('takes ranks per process from the fabric', async () => {
    const fabric = local({ ranksPerProcess: [1, 3], seed: 2 })
    expect(await runInPage((world) => world.location.process, { ranks: 4, fabric })).toEqual([0, 1, 1, 1])
  })

  it('takes what a tuning file holds, and refuses a damaged one', async () => {
    const tuning = tuningFileOf({ allgather: treeByBytes('allgather', ['allgather-ring']) })
    const main = async (world: Parameters<Parameters<typeof runInPage>[0]>[0]) => {
      await world.allgather(new Uint8Array(8))
      return world.describe().collectives[0].why
    }
    const options = { ranks: 3, processes: 3 }
    expect(await runInPage(main, { ...options, tuning })).toEqual(Array(3).fill('tuning file: every call'))
    await expect(
      runInPage(main, { ...options, tuning: { ...tuning, checksum: '0123456789abcdef' } }),
    ).rejects.toMatchObject({ code: 'ERR_TUNING' })
  })

  it('takes a machine with cores for its ranks', async () => {
    const main = async (world: Parameters<Parameters<typeof runInPage>[0]>[0]) => world.describe().machine
    const machine = cluster({ nodes: 2, cores: 2 })
    const used = { from: 'world', text: 'cluster:nodes=2,cores=2' }
    expect(await runInPage(main, { ranks: 3, machine })).toEqual(Array(3).fill(used))
    await expect(runInPage(main, { ranks: 5, machine })).rejects.toMatchObject({ code: 'ERR_MACHINE' })
  })

  it('rejects with the first error of a rank, that same object', async () => {
    const error = new TypeError('on purpose')
    const main = async (world: { readonly rank: number; barrier(): Promise<void> }) => {
      if (world.rank === 1) throw error
      await world.barrier()
    }
    expect(await runInPage(main, { ranks: 3 }).catch((reason: unknown) => reason)).toBe(error)
  })

  it.each([
    ['no function', null, { ranks: 1 }, 'ERR_ARGUMENT', 'run: expected a function as main, got null'],
    ['an option of Node', () => 0, { ranks: 1, report: {} }, 'ERR_ARGUMENT', "got 'report'"],
    [
      'another fabric',
      () => 0,
      { ranks: 1, fabric: 'threads' },
      'ERR_ARGUMENT',
      'expected fabric, what local() makes',
    ],
    ['no signal', () => 0, { ranks: 1, signal: 1 }, 'ERR_ARGUMENT', 'expected signal, an AbortSignal'],
    ['a negative limit', () => 0, { ranks: 1, creditBytes: -1 }, 'ERR_ARGUMENT', 'expected creditBytes'],
    ['no ranks', () => 0, { ranks: 0 }, 'ERR_WORLD', 'got 0'],
    [
      'two numbers of processes',
      () => 0,
      { ranks: 2, processes: 1, fabric: local({ processes: 2 }) },
      'ERR_WORLD',
      'expected processes as the fabric has them, 2, got 1',
    ],
  ])('refuses %s', async (_what, main, options, code, message) => {
    await expect(runInPage(main as never, options as never)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
  })
})
