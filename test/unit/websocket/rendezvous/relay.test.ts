import { describe, expect, it } from 'vitest'
import { RendezvousCase } from '../../../support/rendezvous-case.js'

describe('relayed messages', () => {
  it('arrive in order, each once, under the number of their sender, and may be reused at once', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    const message = new Uint8Array(2)
    for (let n = 0; n < 3; n++) {
      message.fill(n)
      members[2].membership.relay(0, message)
      members[1].membership.relay(0, message.subarray(1))
    }
    expect(members[2].membership.relayBufferedBytes).toBe(18)
    await rendezvous.turn()
    expect(members[0].events).toEqual([0, 1, 2].flatMap((n) => [`relayed 2: ${n},${n}`, `relayed 1: ${n}`]))
    await rendezvous.pass(10)
    expect(members[2].membership.relayBufferedBytes).toBe(0)
  })

  it('wait in the rendezvous for a receiver that is slow, and control messages overtake them', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    const end = members[1].socket.peer
    end.isCut = true
    const message = new Uint8Array(2 ** 19)
    for (let n = 0; n < 6; n++) members[0].membership.relay(1, message)
    await rendezvous.pass(100)
    // Two have been given to the socket, which then has more than 1 MiB; the sender knows.
    expect(end.bufferedAmount).toBe(2 * (2 ** 19 + 4))
    expect(members[0].membership.relayBufferedBytes).toBe(4 * (2 ** 19 + 4))
    members[2].socket.terminate()
    await rendezvous.turn()
    end.isCut = false
    await rendezvous.pass(100)
    const kinds = members[1].events.map((event) => event.split(' ')[0])
    expect(kinds).toEqual(['relayed', 'relayed', 'lost', 'relayed', 'relayed', 'relayed', 'relayed'])
    expect(members[0].membership.relayBufferedBytes).toBe(0)
  })

  it('beyond the limit end their sender, not the world', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3, { limits: { maxRelayedBytes: 2 ** 21 } })
    members[1].socket.peer.isCut = true
    for (let n = 0; n < 8; n++) members[0].membership.relay(1, new Uint8Array(2 ** 19))
    await rendezvous.pass(10)
    expect(members[0].errors).toMatchObject([{ code: 'ERR_LIMIT' }])
    expect(members[2].events).toEqual([expect.stringMatching(/^lost 0: .* relayed bytes in flight/)])
  })

  it('count with the memory that each takes: many empty ones end their sender too', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3, { limits: { maxRelayedBytes: 2 ** 20 } })
    members[1].socket.peer.bufferedAmount = 2 ** 20 + 1
    for (let n = 0; n < 2 ** 13; n++) members[0].membership.relay(1, new Uint8Array(0))
    await rendezvous.pass(10)
    expect(members[0].errors).toMatchObject([{ code: 'ERR_LIMIT' }])
  })

  it('to a process that is lost or has left are dropped, and count no longer', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    members[1].socket.terminate()
    members[0].membership.relay(1, Uint8Array.of(1))
    void members[2].membership.leave()
    await rendezvous.turn()
    members[0].membership.relay(1, Uint8Array.of(1))
    members[0].membership.relay(2, Uint8Array.of(1))
    await rendezvous.pass(20)
    expect(members[0].membership.relayBufferedBytes).toBe(0)
    expect(members[0].errors).toEqual([])
  })

  it('of a process that has left still arrive; of one that is lost none arrives after the loss', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    const end = members[0].socket.peer
    end.bufferedAmount = 2 ** 21
    members[1].membership.relay(0, Uint8Array.of(1))
    members[2].membership.relay(0, Uint8Array.of(2))
    await rendezvous.turn()
    void members[1].membership.leave()
    members[2].socket.terminate()
    await rendezvous.turn()
    end.bufferedAmount = 0
    await rendezvous.pass(10)
    expect(members[0].events).toEqual([
      'lost 2: its connection to the rendezvous closed (code 1006)',
      'relayed 1: 1',
    ])
  })

  it('that are too long throw before anything is sent', async () => {
    const { members } = await RendezvousCase.with(2)
    expect(() => members[0].membership.relay(1, new Uint8Array(2 ** 20 + 1))).toThrow(
      expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' }),
    )
    expect(members[0].membership.relayBufferedBytes).toBe(0)
  })

  it('and nothing else of one world reaches another of the same rendezvous', async () => {
    const rendezvous = new RendezvousCase()
    const a = await rendezvous.world(2)
    const b = await rendezvous.world(2)
    expect(a.members[0].membership.world).not.toBe(b.members[0].membership.world)
    const decided = b.members[0].membership.authority.decide('key', [0, 1], new Uint8Array())
    a.members[0].membership.relay(1, Uint8Array.of(1))
    void a.members[1].membership.authority.decide('key', [0, 1], new Uint8Array()).catch(() => {})
    a.members[0].socket.terminate()
    a.world.close()
    await rendezvous.turn()
    expect(b.members.map(({ events }) => events)).toEqual([[], []])
    void b.members[1].membership.authority.decide('key', [0, 1], Uint8Array.of(1))
    await rendezvous.turn()
    expect(await decided).toEqual({ contributions: [new Uint8Array(), Uint8Array.of(1)], lost: [] })
  })
})

describe('decisions', () => {
  it('are the same everywhere, with null for who was lost before, and losses in order', async () => {
    const { rendezvous, members } = await RendezvousCase.with(4)
    const decide = (process: number) =>
      members[process].membership.authority.decide('shrink', [0, 1, 3], Uint8Array.of(process, 255))
    const decisions = [decide(0), decide(3)]
    await rendezvous.turn()
    members[2].socket.terminate()
    members[1].socket.terminate()
    await rendezvous.turn()
    for (const decision of decisions) {
      expect(await decision).toEqual({
        contributions: [Uint8Array.of(0, 255), null, Uint8Array.of(3, 255)],
        lost: [2, 1],
      })
    }
  })

  it('do not wait for a process that has left', async () => {
    const { rendezvous, members } = await RendezvousCase.with(2)
    const decision = members[0].membership.authority.decide('key', [0, 1], Uint8Array.of(1))
    void members[1].membership.leave()
    await rendezvous.turn()
    expect((await decision).contributions).toEqual([Uint8Array.of(1), null])
    expect(members[0].events).toEqual([])
  })

  it('reject when the world is lost, after leaving, and for arguments that do not fit', async () => {
    const { rendezvous, world, members } = await RendezvousCase.with(2)
    const { authority } = members[0].membership
    expect(authority.isHere).toBe(false)
    const pending = authority.decide('key', [0, 1], new Uint8Array())
    await expect(authority.decide('key', [0, 1], new Uint8Array())).rejects.toMatchObject({
      code: 'ERR_FABRIC',
    })
    await expect(authority.decide('k', [0, 1], new Uint8Array(65))).rejects.toMatchObject({
      code: 'ERR_FABRIC',
    })
    const leaving = members[1].membership.authority.decide('other', [0, 1], new Uint8Array())
    void members[1].membership.leave()
    await expect(leaving).rejects.toMatchObject({ code: 'ERR_FABRIC' })
    world.close('over')
    const refused = expect(pending).rejects.toMatchObject({ code: 'ERR_WORLD_LOST' })
    await rendezvous.turn()
    await refused
    await expect(authority.decide('late', [0], new Uint8Array())).rejects.toMatchObject({
      code: 'ERR_WORLD_LOST',
    })
  })
})
