import { local } from 'rankweave'
import { algorithms } from 'rankweave/schedule'
import { expect, it } from 'vitest'
import { onRanks } from '../../../support/on-ranks.js'

const counts = [50_000, 0, 40_000, 9]
const expected = Int16Array.from(counts.flatMap((count, rank) => Array<number>(count).fill(rank)))
const ids = algorithms.filter(({ collective }) => collective === 'allgather').map(({ id }) => id)

// With one rank per process, messages contain the blocks that a schedule sends to their origin.
it.each(ids.filter((id) => id !== 'allgather-two-proc'))(
  '%s gathers blocks beyond the eager limit, of different lengths',
  async (algorithm) => {
    for (const segments of [1, 3]) {
      const fabric = local({ ranksPerProcess: [1, 1, 1, 1], seed: segments })
      const same = await onRanks({ ranks: 4, fabric }, async (world) => {
        const data = new Int16Array(counts[world.rank]!).fill(world.rank)
        const known = await world.allgatherv(data, { algorithm, segments, counts })
        const unknown = await world.allgatherv(data, { algorithm, segments })
        return [known, unknown].map((gathered) => Buffer.from(expected.buffer).equals(bytesOf(gathered.data)))
      })
      expect(same).toEqual(Array(4).fill([true, true]))
    }
  },
)

it('allgather-binomial sends no long block to its origin', async () => {
  const blockBytes = 20_000
  const sent = await onRanks(
    { ranks: 4, fabric: local({ ranksPerProcess: [1, 1, 1, 1] }) },
    async (world) => {
      const { processCounters } = world.seat().state.runtime
      const before = processCounters.frameBytesSent
      await world.allgather(new Uint8Array(blockBytes), { algorithm: 'allgather-binomial' })
      await world.barrier()
      return Math.floor((processCounters.frameBytesSent - before) / blockBytes)
    },
  )
  // Ranks 1 and 3 send their blocks to 0 and 2, and 2 sends two to 0. Then 0 sends three to 1 and to 2, and 1 to 3.
  expect(sent).toEqual([6, 4, 2, 1])
})

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength)
