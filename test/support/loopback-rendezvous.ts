import type { RankweaveError } from '../../src/errors.js'
import { type JoinWorldOptions, joinWorld } from '../../src/websocket/rendezvous/join-world.js'
import type { Membership } from '../../src/websocket/rendezvous/membership.js'
import { Rendezvous, type RendezvousOptions } from '../../src/websocket/rendezvous/rendezvous.js'
import {
  listenRendezvous,
  type RendezvousServerOptions,
} from '../../src/websocket/rendezvous/server-nodejs.js'
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
export function nextEvents(membership: Membership): {
  readonly lost: Promise<number>
  readonly worldLost: Promise<RankweaveError>
  readonly relayed: Promise<readonly [number, Uint8Array]>
} {
  let lost = (_: number) => {}
  let worldLost = (_: RankweaveError) => {}
  let relayed = (_: readonly [number, Uint8Array]) => {}
  const events = {
    lost: new Promise<number>((resolve) => {
      lost = resolve
    }),
    worldLost: new Promise<RankweaveError>((resolve) => {
      worldLost = resolve
    }),
    relayed: new Promise<readonly [number, Uint8Array]>((resolve) => {
      relayed = resolve
    }),
  }
  membership.attach({ lost, worldLost, relayed: (from, message) => relayed([from, message]) })
  return events
}
