import { isRankweaveError, run, threads, websocket } from 'rankweave'
import type { FabricFactory } from 'rankweave/fabric'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../support/compiled.js'
import type { HostedPart } from '../../support/hosted-forms.js'

const program = compiledUrl('hosted-forms.ts')
const all = '0,1,2,3,4'
const valuesOf = (form: string) => [0, 1, 2, 3, 4].map((rank) => `${form}: ${rank} of ${all}`)

const start = (fabric: FabricFactory, args: HostedPart, hosted?: boolean) =>
  run<string, HostedPart>(program, { ranks: 5, fabric, args, ...(hosted === undefined ? {} : { hosted }) })

/** Process 1 hosts no rank. */
const ranksPerProcess = [3, 0, 2]

describe.each([threads({ ranksPerProcess }), websocket({ ranksPerProcess })])(
  'hosted programs on $kind',
  (fabric) => {
    it('run where they are exported, once per process', async () => {
      expect(await start(fabric, 'values')).toEqual(valuesOf('hosted'))
      expect(await start(fabric, 'values', true)).toEqual(valuesOf('hosted'))
    })

    it('give way to the default export with hosted: false', async () => {
      expect(await start(fabric, 'values', false)).toEqual(valuesOf('default'))
    })

    it.each(['throw', 'throwing entry'] as const)('end the world with what they throw: %s', async (part) => {
      const error: unknown = await start(fabric, part).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ name: 'RangeError', message: 'out of cheese' })
    })

    it('have to return one value per rank', async () => {
      const error: unknown = await start(fabric, 'too few').catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'ERR_COUNT', message: expect.stringContaining('got 0 values') })
    })

    it('have to return values, not promises', async () => {
      const error: unknown = await start(fabric, 'promises').catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'ERR_TYPE', message: expect.stringContaining('got a promise') })
    })

    it('are reported when they wait for ranks of their process that have not called', async () => {
      const error: unknown = await start(fabric, 'deadlock').catch((reason: unknown) => reason)
      if (!isRankweaveError(error)) throw error
      expect(error.code).toBe('ERR_DEADLOCK')
      expect(error.message).toContain('deadlock: 5 ranks are blocked')
      expect(error.message).toContain('rank 3 waits in barrier() #0; rank 4 has not called it')
    })

    it('are not reported while they compute or await a timer', async () => {
      expect(await start(fabric, 'compute')).toEqual(valuesOf('hosted'))
    })
  },
)
