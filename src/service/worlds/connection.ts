import type { Clock } from '../../base/clock.js'
import type { WorldServiceLimits } from '../../client/protocol/limits.js'
import type { WorldEvent, WorldKind, WorldReply, WorldRequest } from '../../client/protocol/worlds.js'
import { isRankweaveError, RankweaveError, shown, wrongValue } from '../../errors.js'
import { ownVersion } from '../../package-paths.js'
import { type RefusalCode, refusalCodes } from '../../websocket/protocol/refusals.js'
import { MessageRate } from '../../websocket/rendezvous/hosted-member.js'
import { beyondLimit, closeRefused } from '../../websocket/rendezvous/refuse.js'
import { drop, type Socket, socketState } from '../../websocket/socket/socket.js'
import type { Log } from '../log.js'
import { decodeRequest, toCallError } from './decode-request.js'
import { type MemberClient, ServedMember } from './served-member.js'
import type { Reader, TotalUnread } from './socket-turns.js'
import type { TenantWorlds } from './tenant-worlds.js'

interface ConnectionOptions {
  readonly limits: WorldServiceLimits
  readonly clock: Clock
  readonly log: Log
  /** The unread bytes of all sockets of the service. */
  readonly unread: TotalUnread
  /** Returns the worlds of a token's tenant. @throws ERR_TOKEN */
  readonly worldsOf: (token: string | undefined) => TenantWorlds
  /** Reports that its first message has arrived, and was valid. */
  readonly onGreeted: () => void
  /** Reports its end: later messages of the client are ignored. */
  readonly onOver: () => void
}

/**
 * Serves one socket: reads requests in their order, and replies as calls complete. Nothing that a client sends makes it
 * throw. It refuses invalid messages, and closes a socket that sends too much. Memory: calls in flight, and what the
 * network has not taken, both limited.
 */
export class Connection implements Reader, MemberClient {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #rate: MessageRate
  #worlds: TenantWorlds | undefined
  #member: ServedMember | undefined
  #unwatch: (() => void) | undefined
  #lastId = -1
  #inFlight = 0
  #isOver = false

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#rate = new MessageRate(options.clock)
  }

  get unreadBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(event: WorldEvent): void {
    this.#send(event)
  }

  cutOff(reason: string): void {
    this.closed(reason)
    drop(this.#socket, refusalCodes.ERR_LIMIT, 'ERR_LIMIT')
  }

  receive(data: unknown): void {
    if (this.#isOver) return
    const { maxMessagesPerSecond, maxMessageBytes, maxCallsInFlight } = this.#options.limits
    if (this.#rate.exceeds(maxMessagesPerSecond)) {
      this.refuse(beyondLimit(`${maxMessagesPerSecond} messages per second (maxMessagesPerSecond)`))
      return
    }
    if (typeof data !== 'string') {
      this.refuse(new RankweaveError('ERR_PROTOCOL', 'expected a text message, got bytes'))
      return
    }
    const decoded = decodeRequest(data, maxMessageBytes)
    const { id } = decoded
    if (id !== null && id <= this.#lastId) {
      const last = this.#lastId
      this.#refused(id, new RankweaveError('ERR_REPLAYED', `expected an id larger than ${last}, got ${id}`))
      return
    }
    if (id !== null) this.#lastId = id
    if ('error' in decoded) {
      if (this.#worlds === undefined) this.refuse(decoded.error)
      else if (id === null) this.#refused(null, decoded.error)
      else this.#send({ reply: id, error: toCallError(decoded.error) })
      return
    }
    const { request } = decoded
    if (this.#worlds === undefined) {
      this.#greet(request)
    } else if (this.#inFlight >= maxCallsInFlight && waitsForOthers(request.kind)) {
      const error = beyondLimit(`${maxCallsInFlight} calls in flight (callsInFlight)`)
      this.#send({ reply: request.id, error: toCallError(error) })
    } else {
      void this.#answer(request, this.#worlds)
    }
  }

  /** Handles the end of the socket. @param reason for the other members of its world */
  closed(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.unread.forget(this)
    this.#rate.stop()
    this.#unwatch?.()
    this.#departs('lost', reason)
    this.#worlds?.exit(this)
    this.#options.onOver()
  }

  /** Sends the reason, and closes the socket; its member is lost. */
  refuse(error: RankweaveError): void {
    if (this.#isOver) return
    this.#refused(null, error)
    const code: RefusalCode = Object.hasOwn(refusalCodes, error.code)
      ? (error.code as RefusalCode)
      : 'ERR_PROTOCOL'
    this.closed(`its socket was closed: ${error.code}`)
    closeRefused(this.#socket, this.#options.clock, code)
  }

  #greet(request: WorldRequest): void {
    try {
      if (request.kind !== 'hello') {
        throw new RankweaveError('ERR_PROTOCOL', `expected 'hello' first, got '${request.kind}'`)
      }
      const worlds = this.#options.worldsOf(request.token)
      worlds.enter(this)
      this.#worlds = worlds
    } catch (error) {
      this.refuse(isRankweaveError(error) ? error : new RankweaveError('ERR_PROTOCOL', 'hello: see the log'))
      return
    }
    this.#options.onGreeted()
    const reply: WorldReply<'hello'> = { version: ownVersion(), limits: { ...this.#options.limits } }
    this.#send({ reply: request.id, ...reply })
  }

  async #answer(request: WorldRequest, worlds: TenantWorlds): Promise<void> {
    this.#inFlight++
    try {
      const reply = await this.#perform(request, worlds)
      this.#send({ reply: request.id, ...reply })
    } catch (error) {
      if (!isRankweaveError(error)) this.#options.log.error({ err: error, kind: request.kind }, 'call failed')
      this.#send({ reply: request.id, error: toCallError(error) })
    } finally {
      this.#inFlight--
    }
  }

  #perform(request: WorldRequest, worlds: TenantWorlds): WorldReply | Promise<WorldReply> {
    switch (request.kind) {
      case 'hello':
        throw new RankweaveError('ERR_PROTOCOL', 'expected one hello per socket')
      case 'createWorld':
        return this.#create(request, worlds)
      case 'join':
        return this.#join(request, worlds)
      case 'leave':
        this.#requireMember()
        this.#departs('left', 'it has left')
        return {}
      case 'watch':
        this.#unwatch ??= worlds.watch.add((event) => this.#send(event))
        return { worlds: worlds.list() }
      default:
        return call(this.#requireMember(), request as WorldRequest<CallKind>)
    }
  }

  #create(request: WorldRequest<'createWorld'>, worlds: TenantWorlds): WorldReply<'createWorld'> {
    const { name = null, members, programs = 0 } = request
    const { id, token } = worlds.create(name, members, programs, this)
    return { world: id, ...(token === null ? {} : { token }) }
  }

  #join(request: WorldRequest<'join'>, worlds: TenantWorlds): WorldReply<'join'> {
    if (this.#member?.state === 'waiting' || this.#member?.state === 'running') {
      throw new RankweaveError(
        'ERR_WORLD',
        `this socket is a member of ${this.#member.world.id}: leave it first`,
      )
    }
    const world = worlds.find(request)
    const { maxCommunicators } = this.#options.limits
    const member = new ServedMember(world, this, request.address ?? null, maxCommunicators)
    world.join(member)
    this.#member = member
    const reply = { world: world.id, joined: world.joined, members: world.size }
    // The reply goes first.
    queueMicrotask(() => world.beginIfComplete())
    return reply
  }

  #requireMember(): ServedMember {
    if (this.#member !== undefined) return this.#member
    throw new RankweaveError('ERR_WORLD', 'this socket is not a member of a world: join one')
  }

  #departs(state: 'left' | 'lost', reason: string): void {
    const member = this.#member
    this.#member = undefined
    member?.world.depart(member, state, reason)
  }

  #refused(id: number | null, error: RankweaveError): void {
    this.#send({ event: 'refused', id, error: toCallError(error) })
  }

  #send(message: WorldEvent | ({ readonly reply: number } & object)): void {
    const socket = this.#socket
    if (this.#isOver || socket.readyState !== socketState.open) return
    const { maxBufferedBytes } = this.#options.limits
    if (socket.bufferedAmount > maxBufferedBytes) {
      // Bytes that the client does not read are not kept for it.
      this.cutOff(`it does not read: more than ${maxBufferedBytes} bytes wait for it (maxBufferedBytes)`)
      return
    }
    socket.send(textOf(message))
    this.#options.unread.sent(this)
  }
}

let lastMessage: object | undefined
let lastText = ''

/** Returns the text of a message; one that all members of a world receive is written once. */
function textOf(message: object): string {
  if (message !== lastMessage) {
    lastMessage = message
    lastText = JSON.stringify(message)
  }
  return lastText
}

/** The requests that a member makes of its world. */
type CallKind = Exclude<WorldKind, 'hello' | 'createWorld' | 'join' | 'leave' | 'watch'>

type Call<K extends CallKind> = (
  member: ServedMember,
  request: WorldRequest<K>,
) => WorldReply<K> | Promise<WorldReply<K>>

/**
 * The functions of requests. The library's call is made before the function returns, so calls start in the order of
 * messages.
 */
const calls: { readonly [K in CallKind]: Call<K> } = {
  split: (member, { comm, color, key }) =>
    member.make(comm, 'split', color, (from) => from.split(color, key)),
  dup: (member, { comm }) => member.make(comm, 'dup', null, (from) => from.dup()),
  create: (member, { comm, ranks }) =>
    member.make(comm, 'create', null, (from) => {
      if (new Set(ranks).size < ranks.length)
        throw wrongValue('ERR_RANK', 'create.ranks: expected distinct ranks', ranks)
      return from.create(from.seat().state.group.incl(ranks))
    }),
  shrink: (member, { comm }) => member.make(comm, 'shrink', null, (from) => from.shrink()),
  free: async (member, { comm }) => {
    await member.take(comm).free()
    return {}
  },
  barrier: async (member, { comm }) => {
    await member.communicator(comm).barrier()
    return {}
  },
  translate: async (member, { comm, ranks, to }) => {
    const from = await member.communicator(comm).group()
    return { ranks: await from.translate(ranks, await member.communicator(to).group()) }
  },
  publish: (member, { address }) => {
    member.address = address
    return {}
  },
  lookup: async (member, { comm, rank }) => {
    const communicator = member.communicator(comm)
    if (rank >= communicator.size) {
      throw new RankweaveError(
        'ERR_RANK',
        `lookup: expected a rank below ${communicator.size}, got ${shown(rank)}`,
      )
    }
    const [worldRank] = await communicator.worldRanks([rank])
    return { worldRank: worldRank, address: member.world.addressOf(worldRank) }
  },
  failed: async (member, { comm }) => ({ ranks: [...(await member.communicator(comm).failed())] }),
  ackFailed: async (member, { comm }) => ({ acknowledged: await member.communicator(comm).ackFailed() }),
  revoke: async (member, { comm }) => {
    await member.communicator(comm).revoke()
    return {}
  },
  agree: async (member, { comm, flag }) => ({ flag: await member.communicator(comm).agree(flag) }),
  describe: (member, { comm }) => {
    const communicator = member.communicator(comm)
    const { rank, size } = communicator
    const retainedBytes = communicator.describe().retained.total
    return { comm, ...member.world.tree.parentOf(comm), rank, size, retainedBytes }
  },
}

const collective: ReadonlySet<WorldKind> = new Set<CallKind>([
  ...(['split', 'dup', 'create', 'free', 'barrier', 'agree', 'shrink'] as const),
])

/**
 * Returns whether a request completes only when others have made theirs. The rest, `revoke` and `leave` among it, is
 * never refused because too many calls wait.
 */
function waitsForOthers(kind: WorldKind): boolean {
  return collective.has(kind)
}

/** Makes the call of a request. @throws what the call throws */
async function call(member: ServedMember, request: WorldRequest<CallKind>): Promise<WorldReply> {
  // Each kind has its own function, which the type of the table states.
  return (calls[request.kind] as Call<CallKind>)(member, request)
}
