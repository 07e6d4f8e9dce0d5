import { expect, it } from 'vitest'
import { onRanks } from '../../support/on-ranks.js'

const throwing = () => {
  throw new Error('a trap')
}

it.each([
  ['a proxy whose prototype cannot be read', () => new Proxy({}, { getPrototypeOf: throwing })],
  [
    'a proxy of an error, none of whose properties can be read',
    () => new Proxy(new Error('x'), { get: throwing }),
  ],
  [
    'an error without a message that can be read',
    () => Object.defineProperty(new Error('x'), 'message', { get: throwing }),
  ],
])('a world ends when a rank throws %s', async (_what, make) => {
  const ended = onRanks({ ranks: 2 }, async (world) => {
    if (world.rank === 1) throw make()
    await world.barrier()
  })
  await expect(ended).rejects.toThrow(/the program threw a value of type object that has no text/)
})
