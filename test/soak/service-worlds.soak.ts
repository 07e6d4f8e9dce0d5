import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { begunWorld, worldService } from '../support/asking-member.js'
import { demanded } from '../support/soak.js'
import { loadWorlds } from '../support/world-load.js'

it('members of many worlds split, meet and free without an error, and memory comes back', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const service = worldService()
  const load = { worlds: demanded(100, 20), members: 20, rounds: 5 }
  const heapBytes = await loadWorlds(service, load, collect)
  // Thousands of splits: some hundred bytes that stay of each would be more.
  expect(heapBytes[1]).toBeLessThan(heapBytes[0] * 1.1)
})

it('a world of 1,000 members splits and meets, and all learn which members leave', async () => {
  const service = worldService()
  const members = await begunWorld(service, 1_000)
  const places = await Promise.all(
    members.map((member, rank) => member.ask('split', { comm: 'world', color: rank % 10 })),
  )
  expect(places.every(({ rank, size }, n) => size === 100 && rank === Math.floor(n / 10))).toBe(true)
  await Promise.all(members.map((member, n) => member.ask('barrier', { comm: places[n].comm! })))
  // Few: each is told to all others, whose every message is checked here.
  await Promise.all([0, 1].map((rank) => members[rank].ask('leave', {})))
  const told = await Promise.all(members.slice(2).map((member) => member.event('member')))
  expect(new Set(told.map(({ rank, state }) => `${rank} ${state}`))).toEqual(new Set(['0 left']))
})
