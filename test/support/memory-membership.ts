import type { RankweaveError } from '../../src/errors.js'
import type { Authority, FabricFactory } from '../../src/fabric/fabric.js'
import { LocalAuthority } from '../../src/fabric/local/local-authority.js'
import { PeerListener } from '../../src/websocket/peer-listener.js'
import { defaultWorldLimits, type WorldLimits } from '../../src/websocket/protocol/limits.js'
import type { BreakCause } from '../../src/websocket/protocol/messages.js'
import type { Membership, MembershipEvents } from '../../src/websocket/rendezvous/join-world.js'
import type { SocketTransport } from '../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../src/websocket/socket/transport-nodejs.js'
import { openWebSocket, type WebSocketSession } from '../../src/websocket/websocket.js'

export interface MemoryWorldOptions {
  readonly limits?: Partial<WorldLimits>
  /** Where others dial a process, given where it listens; null: it is relayed. */
  readonly address?: (process: number, url: string) => string | null
  readonly transport?: (process: number) => SocketTransport
}

/** Members of a world in one thread, without a rendezvous: a test says what happens to them. */
export class MemoryWorld {
  readonly members: readonly MemoryMembership[]
  readonly sessions: readonly WebSocketSession[]
  readonly #authority: LocalAuthority

  private constructor(
    members: readonly MemoryMembership[],
    sessions: readonly WebSocketSession[],
    authority: LocalAuthority,
  ) {
    this.#authority = authority
    this.members = members
    this.sessions = sessions
  }

  /** All processes, connected by sockets on loopback. */
  static async open(processes: number, options: MemoryWorldOptions = {}): Promise<MemoryWorld> {
    const limits = { ...defaultWorldLimits, ...options.limits }
    const { address = (_, url) => url } = options
    const transports = Array.from({ length: processes }, (_, process) =>
      (options.transport ?? (() => nodeTransport({ maxMessageBytes: limits.maxMessageBytes })))(process),
    )
    const listeners = await Promise.all(
      transports.map((transport) => PeerListener.open(transport as Required<SocketTransport>)),
    )
    const addresses = listeners.map(({ url }, process) => address(process, url))
    const members: MemoryMembership[] = []
    const authority = new LocalAuthority(processes, () => setImmediate(() => authority.deliver()))
    for (let process = 0; process < processes; process++) {
      members.push(new MemoryMembership(members, process, addresses, limits, authority.of(process)))
    }
    const sessions = members.map((member, process) =>
      openWebSocket(member, transports[process], listeners[process]),
    )
    return new MemoryWorld(members, sessions, authority)
  }

  /** Every member is told that `process` is lost, itself too. */
  lose(process: number, reason: string): void {
    for (const { events } of this.members) events?.lost(process, reason)
    this.#authority.lose(process)
  }

  async close(): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.close()))
  }
}

/** One for each pair. */
function keyOf(lower: number, higher: number): Uint8Array {
  const key = new Uint8Array(32).fill(7)
  key.set([lower, higher])
  return key
}

/** What `reportBroken` was told. */
export interface BrokenReport {
  readonly peer: number
  readonly reason: string
  readonly cause: BreakCause
}

export class MemoryMembership implements Membership {
  readonly world = 'memory'
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly addresses: readonly (string | null)[]
  readonly peerKeys: readonly (Uint8Array | null)[]
  readonly settings = ''
  readonly limits: WorldLimits
  readonly relayBufferedBytes = 0
  readonly reports: BrokenReport[] = []
  events: MembershipEvents | undefined
  readonly authority: Authority
  readonly #members: readonly MemoryMembership[]

  constructor(
    members: readonly MemoryMembership[],
    process: number,
    addresses: readonly (string | null)[],
    limits: WorldLimits,
    authority: Authority,
  ) {
    this.authority = { isHere: false, decide: authority.decide }
    this.#members = members
    this.process = process
    this.addresses = addresses
    this.processes = addresses.length
    this.peerKeys = addresses.map((_, peer) =>
      peer === process ? null : keyOf(Math.min(peer, process), Math.max(peer, process)),
    )
    this.nodes = addresses.map(() => 'here')
    this.limits = limits
  }

  /** A member that nobody can dial, of a world without an authority. */
  static relayed(process: number, processes: number, members: readonly MemoryMembership[]): MemoryMembership {
    const nobody = new Array<null>(processes).fill(null)
    const authority = new LocalAuthority(processes, () => {})
    return new MemoryMembership(members, process, nobody, defaultWorldLimits, authority.of(process))
  }

  attach(events: MembershipEvents): void {
    this.events = events
  }

  reportBroken(peer: number, reason: string, cause: BreakCause): void {
    this.reports.push({ peer, reason, cause })
  }

  probe(peer: number): void {
    setImmediate(() => {
      this.#members[peer]?.events?.probed?.(this.process)
      setImmediate(() => this.events?.present?.(peer))
    })
  }

  relay(to: number, message: Uint8Array): void {
    const copy = message.slice()
    setImmediate(() => this.#members[to]?.events?.relayed(this.process, copy))
  }

  loseWorld(error: RankweaveError): void {
    this.events?.worldLost(error)
  }

  async leave(): Promise<void> {}
}

/**
 * One factory per process; a case is run with all of them at once. The n-th session that a process opens
 * belongs to the n-th world.
 */
export function memoryFactories(processes: number, options: MemoryWorldOptions = {}): FabricFactory[] {
  const worlds: Promise<MemoryWorld>[] = []
  return Array.from({ length: processes }, (_, process) => {
    let opened = 0
    return {
      kind: 'websocket' as const,
      processes,
      open: async () => {
        const n = opened++
        worlds[n] ??= MemoryWorld.open(processes, options)
        return (await worlds[n]).sessions[process]
      },
    }
  })
}
