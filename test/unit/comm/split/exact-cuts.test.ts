import { expect, it } from 'vitest'
import { local } from '../../../../src/fabric/local/local.js'
import { onRanks } from '../../../support/on-ranks.js'

it('16 sorters find the splitters of 16,000 entries in five exchanges after they have agreed on their number', async () => {
  const ranks = 16_000
  const processes = 16
  const messages = new Set<number>()
  await onRanks({ ranks, fabric: local({ processes, seed: 1 }) }, async (world) => {
    const { rank } = world
    const part = await world.split(rank % 3, (rank * 7919) % ranks, { algorithm: 'parallel-sort' })
    expect(part.size).toBe(Math.ceil((ranks - (rank % 3)) / 3))
    messages.add(world.describe().lastSplit!.phases['splitters'].messages)
  })
  const perExchange = Math.log2(processes)
  // The sizes; the samples; proposals and verdicts; windows and verdicts.
  expect([...messages]).toEqual([(1 + 1 + 2 + 2) * perExchange])
})
