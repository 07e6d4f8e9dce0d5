import { expect, it } from 'vitest'
import { heartbeatWorker } from '../../../../src/websocket/rendezvous/heartbeat-worker-nodejs.js'
import { Rendezvous } from '../../../../src/websocket/rendezvous/rendezvous.js'
import { listenRendezvous } from '../../../../src/websocket/rendezvous/server-nodejs.js'
import type { Socket } from '../../../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../../../src/websocket/socket/transport-nodejs.js'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { joinOver } from '../../../support/loopback-rendezvous.js'

/** Resolves to the socket that is accepted second, the one of the thread, after three beats. */
class Watched extends Rendezvous {
  readonly beats: Promise<Socket>
  #accepted = 0
  #resolve!: (socket: Socket) => void

  constructor() {
    super()
    this.beats = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  override accept(socket: Socket): void {
    super.accept(socket)
    if (++this.#accepted < 2) return
    let beats = 0
    socket.addEventListener('message', ({ data }) => {
      if (data === '{"kind":"beat"}' && ++beats === 3) this.#resolve(socket)
    })
  }
}

it('a thread sends heartbeats over its own socket, by TLS where that is asked for, and ends when its process leaves', async () => {
  const rendezvous = new Watched()
  const listener = await listenRendezvous(rendezvous, { tls: loopbackTls })
  const ca = loopbackTls.cert
  const { token, ended } = rendezvous.createWorld({ processes: 1, limits: { heartbeatMs: 50 } })
  const member = await joinOver(listener.url, token, {
    transport: nodeTransport({ maxMessageBytes: 2 ** 21, ca }),
    startHeartbeats: heartbeatWorker({ ca }),
  })
  const socket = await rendezvous.beats
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
  await member.leave()
  await closed
  expect(await ended).toEqual({ lost: [], failed: null, closed: null })
  rendezvous.close()
  await listener.close()
})

it('a file for the thread that is not there is ERR_WORKER, before anything is started', () => {
  expect(() => heartbeatWorker({ workerUrl: new URL('./nothing.js', import.meta.url) })).toThrow(
    expect.objectContaining({ code: 'ERR_WORKER' }),
  )
})
