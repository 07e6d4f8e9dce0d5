import { expect, it } from 'vitest'
import { socketPair } from '../../../../src/service/worlds/world-host.js'
import { joinWorld } from '../../../../src/websocket/rendezvous/join-world.js'
import type { WorldHandle } from '../../../../src/websocket/rendezvous/rendezvous.js'
import { RendezvousCase } from '../../../support/rendezvous-case.js'

/** A process of the host's own. */
function joinOwn(rendezvous: RendezvousCase, world: WorldHandle, process?: number) {
  const [own, other] = socketPair()
  world.admit(other)
  const joined = joinWorld({
    ...{ url: 'memory:', token: '', program: 'none', version: '1.0.0', node: 'host', listenUrl: null },
    ...{ transport: { dial: () => own }, clock: rendezvous.clock },
    ...(process === undefined ? {} : { process }),
  })
  joined.catch(() => {})
  return { joined }
}

it("processes of the host's own have the first places, and need neither token nor program", async () => {
  const rendezvous = new RendezvousCase()
  const world = rendezvous.rendezvous.createWorld({ processes: 4, own: 2 })
  const first = joinOwn(rendezvous, world)
  await rendezvous.turn()
  const program = rendezvous.join(world.token)
  await rendezvous.turn()
  // The first program says which one it is, not the process that joined before; the host has no tuning file.
  const refused = [{ program: 'other' }, { process: 1 }, { tuning: '0123456789abcdef' }].map((of) =>
    rendezvous.join(world.token, of),
  )
  const codes = ['ERR_PROGRAM_MISMATCH', 'ERR_WORLD', 'ERR_TUNING_MISMATCH']
  expect(await rendezvous.outcomes(...refused)).toEqual(codes)
  await expect(refused[1].joined).rejects.toThrow('expected a process from 2 to 3, got 1')
  const second = joinOwn(rendezvous, world, 0)
  await rendezvous.turn()
  const third = joinOwn(rendezvous, world)
  expect(await rendezvous.outcomes(third)).toEqual(['ERR_WORLD_FULL'])
  await expect(third.joined).rejects.toThrow('all 2 processes have joined')
  const last = rendezvous.join(world.token, { process: 2 })
  expect(await rendezvous.outcomes(first, second, program, last)).toEqual([1, 0, 3, 2])
  expect((await program.joined).nodes).toEqual(['host', 'host', 'node', 'node'])
})

it('programs cannot take the places of the host, and the host says how many those are', async () => {
  const rendezvous = new RendezvousCase()
  const world = rendezvous.rendezvous.createWorld({ processes: 2, own: 1 })
  const program = rendezvous.join(world.token)
  await rendezvous.turn()
  expect(await rendezvous.outcomes(rendezvous.join(world.token))).toEqual(['ERR_WORLD_FULL'])
  expect(await rendezvous.outcomes(joinOwn(rendezvous, world), program)).toEqual([0, 1])
  expect(() => rendezvous.rendezvous.createWorld({ processes: 2, own: 3 })).toThrow(
    'expected own, an integer from 0 to 2',
  )
})
