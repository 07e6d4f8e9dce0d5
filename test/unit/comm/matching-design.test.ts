import { ANY_SOURCE, ANY_TAG, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { mailboxDesigns } from '../../../src/messages/matching-queues/mailbox-designs.js'
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

  it('is chosen by each rank for itself', async () => {
    const found = await onRanks({ ranks: 9, processes: 3 }, async (world) => {
      const { rank } = world
      const design = mailboxDesigns[rank % mailboxDesigns.length]
      const copy = await world.dup(rank === 0 ? {} : { matchingDesign: design })
      const reversed = await copy.split(0, -rank)
      // Messages pass between queues of different designs.
      const { size } = reversed
      for (let dest = 0; dest < size; dest++) await reversed.send(Int32Array.of(rank), dest, rank)
      for (let left = size; left > 0; left--) {
        const { source, tag, data } = await reversed.recv(ANY_SOURCE, ANY_TAG)
        expect([tag, (data as Int32Array)[0]]).toEqual([size - 1 - source, size - 1 - source])
      }
      return reversed.describe().matchingDesigns
    })
    // Of ranks 8, 7 and 6, and of 2, 1 and 0: the split has reversed them.
    expect(found[8]).toEqual(['list', 'index', 'vector-list'])
    expect(found[0]).toEqual(['source-lists', 'list', 'index'])
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
