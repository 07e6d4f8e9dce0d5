import { isRankweaveError, run, threads, websocket } from 'rankweave'
import type { FabricFactory } from 'rankweave/fabric'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../support/compiled.js'
import type { HostedPart } from '../../support/hosted-forms.js'

const program = compiledUrl('hosted-forms.ts')
const valuesOf = (form: string) => [0, 1, 2, 3, 4].map((rank) => `${form}: ${rank} of 0,1,2,3,4`)

/** Process 1 hosts no rank. */
const ranksPerProcess = [3, 0, 2]
const onThreads = threads({ ranksPerProcess })

const start = (args: HostedPart, hosted?: boolean, fabric: FabricFactory = onThreads) =>
  run<string, HostedPart>(program, { ranks: 5, fabric, args, ...(hosted === undefined ? {} : { hosted }) })

describe('hosted programs', () => {
  it.each([
    ['threads', onThreads],
    ['websocket', websocket({ ranksPerProcess })],
  ])('run where they are exported, once per process, on %s', async (_, fabric) => {
    expect(await start('values', undefined, fabric)).toEqual(valuesOf('hosted'))
  })

  it.each([
    ['run with hosted: true', true, 'hosted'],
    ['give way to the default export with hosted: false', false, 'default'],
  ])('%s', async (_, hosted, form) => {
    expect(await start('values', hosted)).toEqual(valuesOf(form))
  })

  it.each<[string, HostedPart, object]>([
    ['end the world with what they throw', 'throw', { name: 'RangeError', message: 'out of cheese' }],
    [
      'end the world with what a value throws',
      'throwing entry',
      { name: 'RangeError', message: 'out of cheese' },
    ],
    [
      'have to return one value per rank',
      'too few',
      { code: 'ERR_COUNT', message: expect.stringContaining('got 0 values') },
    ],
    [
      'have to return values, not promises',
      'promises',
      { code: 'ERR_TYPE', message: expect.stringContaining('got a promise') },
    ],
  ])('%s', async (_, part, error) => {
    await expect(start(part)).rejects.toMatchObject(error)
  })

  it('are reported when they wait for ranks of their process that have not called', async () => {
    const error: unknown = await start('deadlock').catch((reason: unknown) => reason)
    if (!isRankweaveError(error)) throw error
    expect(error.code).toBe('ERR_DEADLOCK')
    expect(error.message).toContain('deadlock: 5 ranks are blocked')
    expect(error.message).toContain('rank 3 waits in barrier() #0; rank 4 has not called it')
  })

  it('are not reported while they compute or await a timer', async () => {
    expect(await start('compute')).toEqual(valuesOf('hosted'))
  })
})
