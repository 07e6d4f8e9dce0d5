import { describe, expect, it } from 'vitest'
import type { JoinWorldOptions } from '../../../../src/websocket/rendezvous/join-world.js'
import type { Socket } from '../../../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../../../src/websocket/socket/transport-nodejs.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { joinOver, nextEvents, withRendezvous } from '../../../support/loopback-rendezvous.js'

/** Options of a member, and what breaks its connection. */
function breakable(): readonly [Partial<JoinWorldOptions>, () => void] {
  const node = nodeTransport({ maxMessageBytes: 2 ** 21 })
  let dialed: Socket | undefined
  const transport = {
    dial(url: string) {
      dialed = node.dial(url)
      return dialed
    },
  }
  return [{ transport }, () => dialed!.terminate!()]
}

describe('over loopback', () => {
  it('members meet, relay to each other, decide, and learn of a loss', () =>
    withRendezvous(async (rendezvous, url) => {
      const world = rendezvous.createWorld({ processes: 3 })
      const [options, breakIt] = breakable()
      const members = await Promise.all([
        joinOver(url, world.token, { process: 0 }),
        joinOver(url, world.token, { process: 1 }),
        joinOver(url, world.token, { process: 2, ...options }),
      ])
      const events = members.map(nextEvents)
      members[0].relay(1, new Uint8Array(2 ** 20).fill(7))
      const [from, message] = await events[1].relayed
      expect([from, message.byteLength, message.at(-1)]).toEqual([0, 2 ** 20, 7])
      const decisions = members
        .slice(0, 2)
        .map(({ authority, process }) => authority.decide('key', [0, 1, 2], Uint8Array.of(process)))
      breakIt()
      expect(await Promise.all([events[0].lost, events[1].lost])).toEqual([2, 2])
      expect(await events[2].worldLost).toMatchObject({ code: 'ERR_WORLD_LOST' })
      for (const decision of await Promise.all(decisions)) {
        expect(decision).toEqual({ contributions: [Uint8Array.of(0), Uint8Array.of(1), null], lost: [2] })
      }
      await Promise.all(members.map((member) => member.leave()))
      expect(await world.ended).toMatchObject({ lost: [{ process: 2 }] })
    }))

  it('a member that contributes first, with other members than the rest, is lost alone', () =>
    withRendezvous(async (rendezvous, url) => {
      const world = rendezvous.createWorld({ processes: 4 })
      const members = await Promise.all(
        [0, 1, 2, 3].map((process) => joinOver(url, world.token, { process })),
      )
      const events = members.map(nextEvents)
      const all = [0, 1, 2, 3]
      const decide = (process: number, key: string, list: readonly number[]) =>
        members[process].authority.decide(key, list, Uint8Array.of(process))
      decide(3, 'survivors 0.0 #0', [0, 3]).catch(() => {})
      // What the modified member sends is read first.
      await decide(3, 'alone', [3])
      const agreements = [0, 1, 2].map((process) => decide(process, 'survivors 0.0 #0', all))
      decide(3, 'end', [0, 1, 3]).catch(() => {})
      expect(await Promise.all(events.slice(0, 3).map(({ lost }) => lost))).toEqual([3, 3, 3])
      expect(await events[3].worldLost).toMatchObject({ code: 'ERR_PROTOCOL' })
      const ends = [0, 1, 2].map((process) => decide(process, 'end', all))
      const contributions = [Uint8Array.of(0), Uint8Array.of(1), Uint8Array.of(2), null]
      for (const decision of await Promise.all([...agreements, ...ends]))
        expect(decision).toEqual({ contributions, lost: [3] })
      await Promise.all(members.map((member) => member.leave()))
      expect((await world.ended).lost).toHaveLength(1)
    }))

  it('a wrong token, an oversize message, and an address where no server listens are refused with a code', () =>
    withRendezvous(async (rendezvous, url) => {
      const { token } = rendezvous.createWorld({ processes: 1 })
      await expect(joinOver(url, 'wrong')).rejects.toMatchObject({ code: 'ERR_TOKEN' })
      for (const address of ['ws://127.0.0.1:1', 'ws://localhost:1']) {
        await expect(joinOver(address, token)).rejects.toMatchObject({
          code: 'ERR_WORLD_LOST',
          message: expect.stringContaining('ECONNREFUSED'),
        })
      }
      await expect(joinOver('nonsense', token)).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
      const member = await joinOver(url, token, {
        transport: {
          dial(address) {
            const socket = nodeTransport({ maxMessageBytes: 2 ** 21 }).dial(address)
            socket.addEventListener('open', () => setImmediate(() => socket.send(new Uint8Array(2 ** 21))))
            return socket
          },
        },
      })
      expect((await nextEvents(member).worldLost).code).toBe('ERR_MESSAGE_TOO_LARGE')
    }))

  it('a rendezvous with a certificate is joined by TLS only, and by who trusts it', () =>
    withRendezvous(
      async (rendezvous, url) => {
        const world = rendezvous.createWorld({ processes: 1 })
        expect(url).toMatch(/^wss:/)
        await expect(joinOver(url, world.token)).rejects.toMatchObject({
          code: 'ERR_WORLD_LOST',
          message: expect.stringContaining('self-signed certificate'),
        })
        await expect(joinOver(url.replace('wss', 'ws'), world.token)).rejects.toMatchObject({
          code: 'ERR_WORLD_LOST',
        })
        const transport = nodeTransport({ maxMessageBytes: 2 ** 21, ca: loopbackTls.cert })
        await (await joinOver(url, world.token, { transport })).leave()
        expect(await world.ended).toEqual({ lost: [], failed: null, closed: null })
      },
      { server: { tls: loopbackTls } },
    ))

  it('a world whose rendezvous closes is lost', () =>
    withRendezvous(async (rendezvous, url) => {
      const world = rendezvous.createWorld({ processes: 1 })
      const { worldLost } = nextEvents(await joinOver(url, world.token))
      rendezvous.close('maintenance')
      expect((await worldLost).message).toContain('maintenance')
    }))
})
