import type { RankweaveError } from '../../src/errors.js'
import type { Membership } from '../../src/websocket/rendezvous/join-world.js'
import { type JoinWorldOptions, joinWorld } from '../../src/websocket/rendezvous/join-world.js'
import {
  type AwaitedWorldOptions,
  Rendezvous,
  type RendezvousOptions,
  type WorldHandle,
} from '../../src/websocket/rendezvous/rendezvous.js'
import { type Socket, type SocketTransport, socketState } from '../../src/websocket/socket/socket.js'
import { Network, type PairedSocket } from './socket-pair.js'
import { VirtualClock } from './virtual-clock.js'

/** What a member was told, in order: `lost 2: why`, `world lost ERR_TOKEN`, `relayed 1: 7,8`, `probed by 0`, `present 2`. */
export interface TestMember {
  readonly membership: Membership
  /** Its end of the connection to the rendezvous. */
  readonly socket: PairedSocket
  readonly events: string[]
  readonly errors: RankweaveError[]
}

/** A rendezvous with members in memory and virtual time. */
export class RendezvousCase {
  readonly clock = new VirtualClock()
  readonly network = new Network()
  readonly rendezvous: Rendezvous

  constructor(options: Omit<RendezvousOptions, 'clock'> = {}) {
    this.rendezvous = new Rendezvous({ ...options, clock: this.clock })
  }

  /** A rendezvous and a complete world of it. */
  static async with(...world: Parameters<RendezvousCase['world']>) {
    const rendezvous = new RendezvousCase()
    return { rendezvous, ...(await rendezvous.world(...world)) }
  }

  /** A connection as a client has it, accepted by the rendezvous. */
  dial(remote?: string): PairedSocket {
    const [client, server] = this.network.pair()
    this.network.deliver(client, () => {
      server.readyState = socketState.open
      client.readyState = socketState.open
      this.rendezvous.accept(server, remote)
      client.emit('open')
    })
    return client
  }

  /** Joins; settled by {@link turn}. */
  join(
    token: string,
    options: Partial<JoinWorldOptions> = {},
  ): { readonly joined: Promise<Membership>; readonly socket: PairedSocket } {
    let socket: PairedSocket | undefined
    const transport: SocketTransport = {
      dial: (): Socket => {
        const dialed = this.dial()
        socket ??= dialed
        return dialed
      },
    }
    const joined = joinWorld({
      ...{
        url: 'memory',
        token,
        program: 'digest',
        version: '1.0.0',
        node: 'node',
        listenUrl: null,
        transport,
      },
      ...{ clock: this.clock, ...options },
    })
    joined.catch(() => {})
    return { joined, socket: socket! }
  }

  /** What comes of requests to join when everything has arrived: a number, or the code of a refusal. */
  async outcomes(
    ...joins: readonly { readonly joined: Promise<Membership> }[]
  ): Promise<readonly (number | string)[]> {
    const outcomes: (number | string)[] = joins.map(() => 'pending')
    joins.forEach(({ joined }, n) => {
      joined.then(
        ({ process }) => {
          outcomes[n] = process
        },
        ({ code }: RankweaveError) => {
          outcomes[n] = code
        },
      )
    })
    await this.turn()
    return outcomes
  }

  /** Everything in flight arrives. */
  async turn(): Promise<void> {
    for (let n = 0; n < 4; n++) {
      this.network.settle()
      await Promise.resolve()
      await Promise.resolve()
    }
  }

  /** Time passes in steps, and what is sent arrives. */
  async pass(durationMs: number, stepMs = 10): Promise<void> {
    for (let passed = 0; passed < durationMs; passed += stepMs) {
      this.clock.pass(Math.min(stepMs, durationMs - passed))
      await this.turn()
    }
  }

  /** A complete world. */
  async world(
    processes: number,
    options: Partial<AwaitedWorldOptions> = {},
    join: (process: number) => Partial<JoinWorldOptions> = () => ({}),
  ): Promise<{ readonly world: WorldHandle; readonly members: readonly TestMember[] }> {
    const world = this.rendezvous.createWorld({ processes, ...options })
    const joins = Array.from({ length: processes }, (_, process) => this.join(world.token, join(process)))
    await this.turn()
    const members = await Promise.all(joins.map(async ({ joined, socket }) => observed(await joined, socket)))
    await this.turn()
    return { world, members }
  }
}

function observed(membership: Membership, socket: PairedSocket): TestMember {
  const events: string[] = []
  const errors: RankweaveError[] = []
  membership.attach({
    lost: (process, reason) => events.push(`lost ${process}: ${reason}`),
    worldLost: (error) => {
      events.push(`world lost ${error.code}`)
      errors.push(error)
    },
    relayed: (from, message) => events.push(`relayed ${from}: ${message}`),
    probed: (from) => events.push(`probed by ${from}`),
    present: (peer) => events.push(`present ${peer}`),
  })
  return { membership, socket, events, errors }
}
