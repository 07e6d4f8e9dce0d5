import { expect, it } from 'vitest'
import { local } from '../../../src/fabric/local/local.js'
import { hostSession } from '../../../src/world/world.js'

// As `join` of a page does: it has the settings of the world, and no design but the index.
it('a page in a world of another design has the index, and says so', async () => {
  const found = await hostSession(
    await local({ processes: 1 }).open(),
    async (world) => {
      await world.sendrecv(Int32Array.of(1), 1 - world.rank, 1 - world.rank)
      const { matchingDesigns, matching } = world.describe()
      return [matchingDesigns, matching?.map(({ design }) => design)]
    },
    { ranks: 2, matching: { design: 'bins', count: true } },
  )
  expect(found).toEqual(Array(2).fill([['index'], ['index', 'index']]))
})
