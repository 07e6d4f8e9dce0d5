import { EventEmitter } from 'node:events'
import type { RankweaveError } from '../../src/errors.js'
import { listenRendezvous, type RendezvousServerOptions } from '../../src/launch/websocket/rendezvous.js'
import type { Membership } from '../../src/websocket/rendezvous/join-world.js'
import { type JoinWorldOptions, joinWorld } from '../../src/websocket/rendezvous/join-world.js'
import { Rendezvous, type RendezvousOptions } from '../../src/websocket/rendezvous/rendezvous.js'
import { nodeTransport } from '../../src/websocket/socket/transport-nodejs.js'

/** A rendezvous that listens on loopback, for as long as `use` takes. */
export async function withRendezvous(
  use: (rendezvous: Rendezvous, url: string) => Promise<void>,
  options: RendezvousOptions & { readonly server?: RendezvousServerOptions } = {},
): Promise<void> {
  const { server, ...own } = options
  const rendezvous = new Rendezvous(own)
  const listener = await listenRendezvous(rendezvous, server)
  try {
    await use(rendezvous, listener.url)
  } finally {
    rendezvous.close('the test is over')
    await listener.close()
  }
}

/** Joins over a socket. */
export function joinOver(
  url: string,
  token: string,
  options: Partial<JoinWorldOptions> = {},
): Promise<Membership> {
  return joinWorld({
    ...{ url, token, program: 'digest', version: '1.0.0', node: 'node', listenUrl: null },
    ...{ transport: nodeTransport({ maxMessageBytes: 2 ** 21 }), ...options },
  })
}

/** The next event of a membership, as a promise per kind. */
export function nextEvents(membership: Membership) {
  const events = new EventEmitter()
  const next = <T>(kind: string) => new Promise<T>((resolve) => events.once(kind, resolve))
  membership.attach({
    lost: (process) => events.emit('lost', process),
    worldLost: (error) => events.emit('worldLost', error),
    relayed: (from, message) => events.emit('relayed', [from, message]),
  })
  return {
    lost: next<number>('lost'),
    worldLost: next<RankweaveError>('worldLost'),
    relayed: next<readonly [number, Uint8Array]>('relayed'),
  }
}
