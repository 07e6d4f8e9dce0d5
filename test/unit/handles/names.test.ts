import { expect, it } from 'vitest'
import type { Communicator } from '../../../src/handles/communicator.js'
import { onRanks } from '../../support/on-ranks.js'

it('a communicator has the name that a rank gave it, and the call that made it', async () => {
  const made = await onRanks({ ranks: 4, processes: 2 }, async (world) => {
    const half = await world.split(world.rank & 1)
    const before = half.describe()
    half.setName('halves')
    const copy = await half.dup()
    const pair = await world.range(0, 1)
    return [
      world.name,
      before.name,
      half.name,
      copy.name,
      half.describe().made,
      copy.describe().made,
      pair?.describe().made,
    ]
  })
  expect(made[0].slice(0, 4)).toEqual(['world', '', 'halves', ''])
  expect(made[0][4]).toMatch(/^communicator 0\.\d 'halves' was made by split\(\) #0 of the world$/)
  expect(made[0][5]).toMatch(/^communicator 0\.\d was made by dup\(\) #0 of communicator 0\.\d$/)
  expect(made[1][6]).toMatch(/was made by range\(0, 1\) of the world$/)
  expect(made[2][6]).toBeUndefined()
})

it('setName refuses what is not a text of at most 127 characters', async () => {
  await onRanks({ ranks: 1 }, async (world) => {
    expect(() => world.setName('x'.repeat(128))).toThrow(/at most 127 characters/)
    expect(() => world.setName(7 as never)).toThrow(/setName: expected a text/)
    expect(() => world.setName('a\x1b[2Jb')).toThrow(/without control characters/)
    world.setName('x'.repeat(127))
  })
})

it('errors and deadlock reports show the name and the origin', async () => {
  const failure = await onRanks({ ranks: 2 }, async (world) => {
    const half = await world.split(0, -world.rank)
    half.setName('reversed')
    await half.recv(0, 3)
  }).catch((error: Error) => error.message)
  expect(failure).toMatch(/recv\(source 0, tag 3\) on communicator 1\.1 'reversed'/)
  expect(failure).toMatch(/communicator 1\.1 'reversed' was made by split\(\) #0 of the world/)
})

it('reports and mismatches give the rank of the communicator and that of the world where they differ', async () => {
  const messageOf = (main: (row: Communicator, world: Communicator) => unknown) =>
    onRanks({ ranks: 8, processes: 2 }, async (world) =>
      main((await world.split(world.rank % 2, -world.rank))!, world),
    ).catch((error: Error) => error.message)
  const waits = await messageOf(async (row, world) => {
    if (world.rank === 5) await world.recv(2, 7)
    await row.bcast(world.rank, 1)
  })
  // Row 1 is the world ranks 7, 5, 3, 1.
  expect(waits).toContain(': ranks 2-3 (world ranks 1, 3) wait in bcast(root 1) #0 for data')
  expect(waits).toContain(
    ': rank 0 (world rank 7) waits in bcast(root 1) #0; rank 1 (world rank 5) has not called it',
  )
  expect(waits).toContain('finished: rank 0, rank 2, rank 4, rank 6 of the world')
  const mismatch = await messageOf((row, world) => row.bcast(1, world.rank < 4 ? 0 : 1))
  expect(mismatch).toMatch(
    /but rank 0 \(world rank [67]\) called bcast\(root 1\), rank [23] \(world rank [01]\) called/,
  )
})
