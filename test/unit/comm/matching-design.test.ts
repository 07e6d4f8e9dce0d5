import { run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { mailboxDesigns } from '../../../src/messages/process/matching-options.js'
import { onRanks } from '../../support/on-ranks.js'

const refused = { code: 'ERR_ARGUMENT', message: expect.stringContaining(mailboxDesigns.join(', ')) }

describe('the design of matching queues', () => {
  it('is the index unless run names another one', async () => {
    expect(await run((world) => world.describe().matchingDesigns, { ranks: 1 })).toEqual([['index']])
    for (const design of mailboxDesigns)
      expect(
        await run((world) => world.describe().matchingDesigns, { ranks: 1, matching: { design } }),
      ).toEqual([[design]])
  })

  it('is inherited by communicators of every kind, and dup chooses another one', async () => {
    const matching = { design: 'bins' } as const
    await onRanks({ ranks: 4, processes: 2, matching }, async (world) => {
      const of = (comm: typeof world) => comm.describe().matchingDesigns
      const copy = await world.dup({ matchingDesign: 'array-list' })
      expect([of(world), of(copy)]).toEqual([['bins'], ['array-list']])
      const range = await copy.range(0, 1)
      const group = await copy.create(await copy.group(), {})
      const distributed = await copy.split(0, -copy.rank, { table: 'distributed' })
      const cart = await copy.createCart([2, 1])
      const made = [await copy.dup(), await copy.split(0), await copy.split(copy.rank % 2), distributed]
      for (const each of [...made, range, group, cart])
        if (each !== null) expect(of(each)).toEqual(['array-list'])
      const back = await copy.dup({ matchingDesign: 'index' })
      expect([of(back), of(await back.split(0))]).toEqual([['index'], ['index']])
      expect(of(await world.dup())).toEqual(['bins'])
    })
  })

  it('is refused by name before anything starts, with the designs that may be chosen', async () => {
    let started = 0
    for (const design of ['clusters', 'partners-static', 'collectives', 'pnp', '', 3, null]) {
      const matching = { design } as never
      await expect(run(() => started++, { ranks: 2, matching })).rejects.toMatchObject(refused)
    }
    expect(started).toBe(0)
  })

  it('is refused by dup before anything is sent, and the communicator remains usable', async () => {
    await onRanks({ ranks: 2, processes: 2 }, async (world) => {
      for (const matchingDesign of ['clusters', 'constructor', 7] as never[])
        await expect(world.dup({ matchingDesign })).rejects.toMatchObject(refused)
      await expect(world.dup({ matchingDesigns: 'list' } as never)).rejects.toMatchObject({
        ...{ code: 'ERR_ARGUMENT', message: expect.stringContaining("did you mean 'matchingDesign'") },
      })
      await world.barrier()
    })
  })
})
