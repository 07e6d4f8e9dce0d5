import { describe, expect, it } from 'vitest'
import { RendezvousCase } from '../../support/rendezvous-case.js'

describe('joining', () => {
  it('gives numbers by order of joining, except to members that ask for one', async () => {
    const asked: (number | undefined)[] = [undefined, 0, undefined, 3]
    const { members } = await new RendezvousCase().world(4, {}, (n) => ({
      node: `node ${n}`,
      listenUrl: n === 2 ? null : `ws://host:${n}`,
      ...(asked[n] === undefined ? {} : { process: asked[n] }),
    }))
    expect(members.map(({ membership }) => membership.process)).toEqual([1, 0, 2, 3])
    for (const { membership } of members) {
      expect(membership.processes).toBe(4)
      expect(membership.nodes).toEqual(['node 1', 'node 0', 'node 2', 'node 3'])
      expect(membership.addresses).toEqual(['ws://host:1', 'ws://host:0', null, 'ws://host:3'])
      expect(membership.peerKey).toHaveLength(32)
      expect(membership.peerKey).toEqual(members[0]!.membership.peerKey)
    }
  })

  it('tells a member that waits', async () => {
    const rendezvous = new RendezvousCase()
    const told: number[][] = []
    await rendezvous.world(2, {}, () => ({ onWaiting: (...counts) => told.push(counts) }))
    expect(told).toEqual([
      [1, 2],
      [2, 2],
    ])
  })
})

describe('losses', () => {
  it('are told at once when a member closes its socket without leaving, in one order', async () => {
    const rendezvous = new RendezvousCase()
    const { world, members } = await rendezvous.world(4)
    members[2]!.socket.terminate()
    members[1]!.socket.terminate()
    await rendezvous.turn()
    const told = [
      'lost 2: its connection to the rendezvous closed (code 1006)',
      'lost 1: its connection to the rendezvous closed (code 1006)',
    ]
    for (const survivor of [0, 3]) expect(members[survivor]!.events).toEqual(told)
    expect(members[2]!.events).toEqual(['world lost ERR_WORLD_LOST'])
    void members[0]!.membership.leave()
    void members[3]!.membership.leave()
    await rendezvous.turn()
    expect(await world.ended).toMatchObject({ lost: [{ process: 2 }, { process: 1 }], closed: null })
    expect(rendezvous.clock.pending).toBe(0)
  })
})
