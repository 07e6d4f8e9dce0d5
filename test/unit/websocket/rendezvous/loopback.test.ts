import { describe, expect, it } from 'vitest'
import { nodeTransport } from '../../../../src/websocket/socket/transport-nodejs.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { joinOver, nextEvents, withRendezvous } from '../../../support/loopback-rendezvous.js'
import { refusal } from '../../../support/refusal.js'

describe('over loopback', () => {
  it('a wrong token, an oversize message, and an address where no server listens are refused with a code', () =>
    withRendezvous(async (rendezvous, url) => {
      const { token } = rendezvous.createWorld({ processes: 1 })
      await expect(joinOver(url, 'wrong')).rejects.toMatchObject({ code: 'ERR_TOKEN' })
      for (const address of ['ws://127.0.0.1:1', 'ws://localhost:1']) {
        await expect(joinOver(address, token)).rejects.toMatchObject(
          refusal('ERR_WORLD_LOST', 'ECONNREFUSED'),
        )
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
        await expect(joinOver(url, world.token)).rejects.toMatchObject(
          refusal('ERR_WORLD_LOST', 'self-signed certificate'),
        )
        await expect(joinOver(url.replace('wss', 'ws'), world.token)).rejects.toMatchObject({
          code: 'ERR_WORLD_LOST',
        })
        const transport = nodeTransport({ maxMessageBytes: 2 ** 21, ca: loopbackTls.cert })
        await (await joinOver(url, world.token, { transport })).leave()
        expect(await world.ended).toEqual({ lost: [], failed: null, closed: null })
      },
      { server: { tls: loopbackTls } },
    ))
})
