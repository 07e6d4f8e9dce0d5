import { expect, it } from 'vitest'
import { socketPair } from '../../../../src/service/worlds/socket-pair.js'
import { joinWorld } from '../../../../src/websocket/rendezvous/join-world.js'
import type { Membership } from '../../../../src/websocket/rendezvous/membership.js'
import type { WorldHandle } from '../../../../src/websocket/rendezvous/rendezvous.js'
import { RendezvousCase } from '../../../support/rendezvous-case.js'

/** A process of the host's own. */
function joinOwn(rendezvous: RendezvousCase, world: WorldHandle, process?: number): Promise<Membership> {
  const [own, other] = socketPair()
  world.admit(other)
  return joinWorld({
    ...{ url: 'memory:', token: '', program: 'none', version: '1.0.0', node: 'host', listenUrl: null },
    ...{ transport: { dial: () => own }, clock: rendezvous.clock },
    ...(process === undefined ? {} : { process }),
  })
}

it("processes of the host's own have the first places, and need neither token nor program", async () => {
  const rendezvous = new RendezvousCase()
  const world = rendezvous.rendezvous.createWorld({ processes: 4, own: 2 })
  const first = joinOwn(rendezvous, world)
  await rendezvous.turn()
  const program = rendezvous.join(world.token)
  await rendezvous.turn()
  // The first program says which one it is, not the process that joined before.
  const other = rendezvous.join(world.token, { program: 'other' })
  const taken = rendezvous.join(world.token, { process: 1 })
  await rendezvous.turn()
  await expect(other.joined).rejects.toMatchObject({ code: 'ERR_PROGRAM_MISMATCH' })
  await expect(taken.joined).rejects.toMatchObject({
    code: 'ERR_WORLD',
    message: expect.stringContaining('expected a process from 2 to 3, got 1'),
  })
  const second = joinOwn(rendezvous, world, 0)
  await rendezvous.turn()
  await expect(joinOwn(rendezvous, world)).rejects.toMatchObject({
    code: 'ERR_WORLD_FULL',
    message: expect.stringContaining('all 2 processes have joined'),
  })
  const last = rendezvous.join(world.token, { process: 2 })
  await rendezvous.turn()
  const memberships = await Promise.all([first, second, program.joined, last.joined])
  expect(memberships.map(({ process }) => process)).toEqual([1, 0, 3, 2])
  expect(memberships[2].nodes).toEqual(['host', 'host', 'node', 'node'])
})

it('programs cannot take the places of the host, and the host says how many those are', async () => {
  const rendezvous = new RendezvousCase()
  const world = rendezvous.rendezvous.createWorld({ processes: 2, own: 1 })
  const program = rendezvous.join(world.token)
  await rendezvous.turn()
  const beyond = rendezvous.join(world.token)
  await rendezvous.turn()
  await expect(beyond.joined).rejects.toMatchObject({ code: 'ERR_WORLD_FULL' })
  const own = joinOwn(rendezvous, world)
  await rendezvous.turn()
  expect([(await own).process, (await program.joined).process]).toEqual([0, 1])
  expect(() => rendezvous.rendezvous.createWorld({ processes: 2, own: 3 })).toThrow(
    'expected own, an integer from 0 to 2',
  )
})
