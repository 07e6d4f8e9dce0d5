import { expect, it } from 'vitest'
import type { ServedMember } from '../../../../src/service/worlds/served-member.js'
import { Departures } from '../../../../src/service/worlds/served-world.js'
import { ManualClock } from '../../../support/manual-clock.js'

/** Members that run, and the ranks that each has been told of. */
function world(size: number) {
  const clock = new ManualClock()
  const told: number[][] = Array.from({ length: size }, () => [])
  const clients = told.map((ranks) => ({
    unreadBytes: 0,
    send: (event: { readonly rank: number }) => void ranks.push(event.rank),
  }))
  const members = clients.map((client) => ({ state: 'running', client }))
  const departures = new Departures(clock, () => members as unknown as readonly ServedMember[])
  const leave = (rank: number) => {
    members[rank]!.state = 'left'
    departures.add({ event: 'member', world: 'w-0123456789abcdef', rank, state: 'left', reason: '' })
  }
  return { clock, told, clients, departures, leave }
}

it('members that leave at once are not told of each other, and those that stay are told of all', () => {
  const { clock, told, departures, leave } = world(1_000)
  for (let rank = 0; rank < 990; rank++) leave(rank)
  const sent = () => told.reduce((sum, ranks) => sum + ranks.length, 0)
  expect(sent()).toBeLessThanOrEqual(2_048)
  while (clock.delays.length > 0) clock.pass()
  expect(sent()).toBeLessThanOrEqual(2_048 + 10 * 990)
  const all = Array.from({ length: 990 }, (_, rank) => rank)
  expect(told.slice(990)).toEqual(Array.from({ length: 10 }, () => all))
  expect(departures.ranks('left')).toEqual(all)
})

it('a member whose client does not read is told when it has read', () => {
  const { clock, told, clients, leave } = world(4)
  clients[3]!.unreadBytes = 5_000
  leave(0)
  leave(1)
  clock.pass()
  expect(told).toEqual([[], [0], [0, 1], []])
  clients[3]!.unreadBytes = 0
  clock.pass()
  expect(told[3]).toEqual([0, 1])
})
