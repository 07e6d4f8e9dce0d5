import { type OptionTable, uncheckedOptions, valueOption } from '../base/option.js'
import { checkOptions } from '../base/option-table.js'
import { RankweaveError } from '../errors.js'
import { refusalOf } from '../websocket/protocol/refusals.js'
import { errorOf, type ServiceAddress, serviceUrl } from './answers.js'
import type {
  CallError,
  WorldEvent,
  WorldInfo,
  WorldKind,
  WorldReply,
  WorldRequestInput,
} from './protocol/worlds.js'

export interface WorldMemberOptions extends ServiceAddress {
  /** The WebSocket to use. Default: that of the platform; on Node 20, which has none, that of the package `ws`. */
  readonly webSocket?: MakeSocket
}

const memberOptions: OptionTable<WorldMemberOptions> = {
  ...uncheckedOptions('url', 'token'),
  webSocket: valueOption('a function that makes a socket of a URL', (value) => typeof value === 'function'),
}

/** The world to join: an existing one by id, or one by name, which is made if there is none. */
export interface JoinedAs {
  readonly world?: string
  readonly name?: string
  /** The number of members of a new world; a waiting world must have the same number. */
  readonly members?: number
  /** The address that `lookup` returns to others. */
  readonly address?: string
}

/** A communicator of this member. */
export interface MemberCommunicator {
  /** The id, the same at all its ranks; `world` is that of all members. */
  readonly comm: string
  readonly rank: number
  readonly size: number
}

/** The world that a member is in, with its rank among all. */
export interface BegunWorld extends MemberCommunicator {
  readonly world: string
}

/** A world that waits. */
export interface CreatedWorld {
  readonly world: string
  /** The token with which programs join it; null if it has none. */
  readonly token: string | null
}

/** The events that the service pushes. `world` and `worldEnded` come after {@link WorldMember.watch}. */
export type MemberEventKind = 'member' | 'ended' | 'world' | 'worldEnded'
export type MemberEvent<K extends MemberEventKind = MemberEventKind> = WorldEvent<K>

type Listener = (event: never) => void

/** The version of the protocol that this client speaks. */
const protocol = 1

/**
 * A member of a world of a service. It asks for communicators as a rank of MPI would, over one WebSocket. The service
 * answers when all ranks concerned have asked (docs/service-protocol.md). Ids name communicators.
 *
 * Calls reject with the code of the service: ERR_PEER_LOST if a member that they need is lost; ERR_NOT_FOUND for a
 * communicator that this member does not have; ERR_REVOKED, ERR_COLLECTIVE_MISMATCH and others as in any world;
 * ERR_WORLD before `join`; ERR_PROTOCOL for arguments out of range.
 *
 * When the connection is lost, all waiting and later calls reject with the reason: ERR_SERVICE, ERR_TOKEN, ERR_LIMIT or
 * ERR_PROTOCOL. The connection keeps a process of Node alive until `close`.
 */
export class WorldMember {
  /** Resolves once, when the connection has ended: null after `close`, otherwise the reason. */
  readonly closed: Promise<RankweaveError | null>
  readonly #calls: WorldCalls
  readonly #socket: ClientSocket
  readonly #listeners = new Map<MemberEventKind, Set<Listener>>()
  #begun: {
    readonly resolve: (world: BegunWorld) => void
    readonly reject: (error: RankweaveError) => void
  } | null = null
  #isClosing = false
  #hello: WorldReply<'hello'> = { version: '', limits: {} }

  /**
   * Connects, and sends `hello`.
   *
   * @throws ERR_ARGUMENT, ERR_SERVICE if there is none, ERR_TOKEN, ERR_LIMIT; ERR_VERSION_MISMATCH for another protocol
   */
  static async connect(options: WorldMemberOptions): Promise<WorldMember> {
    checkOptions('WorldMember.connect', memberOptions, options)
    const { token, webSocket } = options
    const service = serviceUrl(options)
    const url = new URL('/v1/worlds', service)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const make = webSocket ?? (await platformSocket())
    const socket = make(url.href)
    // Browsers give no reason; of an open socket the event 'close', which follows, states it.
    let reason = 'it cannot be reached, or it refuses this page'
    // Node 22 has no event 'close' of a socket that has never opened.
    const hasFailed = new Promise<false>((resolve) =>
      socket.addEventListener('error', (event) => {
        const { message } = event as { readonly message?: unknown }
        if (typeof message === 'string' && message !== '') reason = message
        resolve(false)
      }),
    )
    const member = new WorldMember(socket)
    const hasOpened = await Promise.race([
      new Promise<true>((resolve) => socket.addEventListener('open', () => resolve(true))),
      hasFailed,
      member.closed.then(() => false),
    ])
    if (!hasOpened)
      throw new RankweaveError('ERR_SERVICE', `no service at ${new URL(service).origin}: ${reason}`)
    try {
      member.#hello = await member.#ask('hello', { protocol, ...(token === undefined ? {} : { token }) })
      return member
    } catch (error) {
      socket.close()
      throw error
    }
  }

  private constructor(socket: ClientSocket) {
    this.#socket = socket
    let over = (_reason: RankweaveError | null) => {}
    this.closed = new Promise((resolve) => {
      over = resolve
    })
    this.#calls = new WorldCalls(socket, {
      onEvent: (event) => this.#event(event),
      onEnd: (reason) => {
        this.#fail(reason)
        over(this.#isClosing ? null : reason)
      },
    })
  }

  /** The version of Rankweave at the service. */
  get version(): string {
    return this.#hello.version
  }

  /** The limits of the service by name, such as `maxCallsInFlight`. */
  get limits(): Readonly<Record<string, number>> {
    return this.#hello.limits
  }

  /**
   * Calls a listener for every later event of a kind: `member` (another rank has left or is lost), `ended` (the world
   * has ended before this member left it), `world` and `worldEnded`.
   *
   * @returns a function that ends the calls
   */
  on<K extends MemberEventKind>(kind: K, listener: (event: MemberEvent<K>) => void): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, listeners)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /**
   * Makes a world that waits for its members, without joining it. With `programs` it also waits for so many processes
   * that run programs. Each joins by `rankweave join`, or `join` from code, with the returned token, at
   * `/v1/rendezvous` of the service; their ranks follow those of the members.
   *
   * @throws ERR_LIMIT; ERR_WORLD for a name in use, or more than 1,024 members and programs
   */
  async createWorld(options: {
    readonly members: number
    readonly name?: string
    readonly programs?: number
  }): Promise<CreatedWorld> {
    const { world, token = null } = await this.#ask('createWorld', options)
    return { world, token }
  }

  /**
   * Joins a world and waits until all its members have. Ranks are given in the order of joining.
   *
   * @throws ERR_NOT_FOUND, ERR_WORLD_FULL; ERR_WORLD for a member of a world already; ERR_WORLD_ENDED if it ends, or
   *   this member leaves, before it has begun
   */
  async join(as: JoinedAs): Promise<BegunWorld> {
    if (this.#begun !== null)
      throw new RankweaveError('ERR_WORLD', 'this member waits for a world already: leave it first')
    const begun = new Promise<BegunWorld>((resolve, reject) => {
      this.#begun = { resolve, reject }
    })
    // The world may fail before this call awaits it.
    begun.catch(() => {})
    try {
      await this.#ask('join', as)
    } catch (error) {
      this.#begun = null
      throw error
    }
    return begun
  }

  /** Leaves the world, or stops waiting for it. Calls of others that need this member fail. */
  async leave(): Promise<void> {
    await this.#ask('leave', {})
    this.#fail(new RankweaveError('ERR_WORLD_ENDED', 'this member has left before the world began'))
  }

  /**
   * Collective: makes a communicator per color (MPI_Comm_split).
   *
   * @param color null: none
   * @param key orders the ranks; ties by rank in `comm`
   */
  async split(comm: string, color: number | null, key = 0): Promise<MemberCommunicator | null> {
    return placeOf(await this.#ask('split', { comm, color, key }))
  }

  /** Collective: duplicates a communicator with separate messages (MPI_Comm_dup). */
  async dup(comm: string): Promise<MemberCommunicator> {
    return placeOf(await this.#ask('dup', { comm }))!
  }

  /**
   * Collective: makes a communicator of the ranks listed, each of which lists the same (MPI_Comm_create).
   * @param ranks empty: in none
   */
  async create(comm: string, ranks: readonly number[]): Promise<MemberCommunicator | null> {
    return placeOf(await this.#ask('create', { comm, ranks: [...ranks] }))
  }

  /** Collective: frees the communicator, which is unusable at once (MPI_Comm_free). */
  async free(comm: string): Promise<void> {
    await this.#ask('free', { comm })
  }

  /** Collective: resolves when all ranks have called it. */
  async barrier(comm: string): Promise<void> {
    await this.#ask('barrier', { comm })
  }

  /**
   * Returns ranks of `comm` as ranks of another communicator of this member (MPI_Group_translate_ranks).
   * @returns null: not in that one
   */
  async translate(comm: string, ranks: readonly number[], to = 'world'): Promise<readonly (number | null)[]> {
    return (await this.#ask('translate', { comm, ranks: [...ranks], to })).ranks
  }

  /**
   * Replaces the address that `lookup` returns to others.
   * @param address any text that the members agree on, at most 512 characters
   */
  async publish(address: string): Promise<void> {
    await this.#ask('publish', { address })
  }

  /** Returns the address that a rank of `comm` has published; null: none. */
  async lookup(comm: string, rank: number): Promise<WorldReply<'lookup'>> {
    return this.#ask('lookup', { comm, rank })
  }

  /** Returns the ranks of `comm` that are lost (MPIX_Comm_get_failed). */
  async failed(comm: string): Promise<readonly number[]> {
    return (await this.#ask('failed', { comm })).ranks
  }

  /** Acknowledges all losses that are known (MPIX_Comm_ack_failed). @returns how many by now */
  async ackFailed(comm: string): Promise<number> {
    return (await this.#ask('ackFailed', { comm })).acknowledged
  }

  /** Fails all calls of the communicator at every rank with ERR_REVOKED, except those that survive losses. */
  async revoke(comm: string): Promise<void> {
    await this.#ask('revoke', { comm })
  }

  /**
   * Collective of the ranks that live: returns the bitwise AND of their flags (MPIX_Comm_agree).
   *
   * @throws ERR_PEER_LOST if a loss was not acknowledged; `details.flag` is the agreed value
   */
  async agree(comm: string, flag: number): Promise<number> {
    return (await this.#ask('agree', { comm, flag })).flag
  }

  /** Collective of the ranks that live: makes a communicator of the survivors in the same order (MPIX_Comm_shrink). */
  async shrink(comm: string): Promise<MemberCommunicator> {
    return placeOf(await this.#ask('shrink', { comm }))!
  }

  /** Describes a communicator, with the bytes of memory that it takes in the service. Local. */
  async describe(comm: string): Promise<WorldReply<'describe'>> {
    return this.#ask('describe', { comm })
  }

  /** Lists all worlds of the token now; the events `world` and `worldEnded` follow. Not limited to members. */
  async watch(): Promise<readonly WorldInfo[]> {
    return (await this.#ask('watch', {})).worlds
  }

  /** Ends the connection. A member that has not left its world is lost for the others. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#socket.close(1000)
    this.#calls.end(new RankweaveError('ERR_SERVICE', 'this member has closed its connection'))
    await this.closed
  }

  #ask<K extends WorldKind>(kind: K, fields: Fields<K>): Promise<WorldReply<K>> {
    return this.#calls.ask(kind, fields)
  }

  #event(event: WorldEvent): void {
    if (event.event === 'begun') {
      const { world, comm, rank, size } = event
      this.#begun?.resolve({ world, comm, rank, size })
      this.#begun = null
      return
    }
    if (event.event === 'ended') this.#fail(errorOf(event.error, 'the world has ended'))
    for (const listener of [...(this.#listeners.get(event.event as MemberEventKind) ?? [])])
      listener(event as never)
  }

  /** Rejects the wait for a world that has not begun. */
  #fail(reason: RankweaveError): void {
    this.#begun?.reject(reason)
    this.#begun = null
  }
}

function placeOf({ comm, rank, size }: WorldReply<'split'>): MemberCommunicator | null {
  return comm === null || rank === null || size === null ? null : { comm, rank, size }
}

/** The fields of a request that differ by its kind. */
type Fields<K extends WorldKind> = Omit<WorldRequestInput<K>, 'id' | 'kind'>

interface Waiting {
  readonly resolve: (reply: never) => void
  readonly reject: (error: RankweaveError) => void
}

/** The close code of a WebSocket that got a message longer than it takes (RFC 6455, section 7.4.1). */
const tooLarge = 1009

interface CallListener {
  readonly onEvent: (event: WorldEvent) => void
  /** Called once, after which no replies and events follow. */
  readonly onEnd: (reason: RankweaveError) => void
}

/**
 * The requests over one socket and their replies, by number. Memory: the requests that wait for a reply, which the
 * service limits (`maxCallsInFlight`).
 */
class WorldCalls {
  readonly #socket: ClientSocket
  readonly #listener: CallListener
  readonly #waiting = new Map<number, Waiting>()
  #next = 1
  #ended: RankweaveError | null = null
  /** The reason for which the service is about to close the socket. */
  #refusal: RankweaveError | null = null

  constructor(socket: ClientSocket, listener: CallListener) {
    this.#socket = socket
    this.#listener = listener
    socket.addEventListener('message', ({ data }) => this.#receive(data))
    socket.addEventListener('close', ({ code, reason }) =>
      this.end(
        this.#refusal ??
          errorOf(
            { code: refusalOf(code) ?? (code === tooLarge ? 'ERR_MESSAGE_TOO_LARGE' : 'ERR_SERVICE') },
            `the service has closed the connection (${reason === '' ? code : reason})`,
          ),
      ),
    )
  }

  get ended(): RankweaveError | null {
    return this.#ended
  }

  async ask<K extends WorldKind>(kind: K, fields: Fields<K>): Promise<WorldReply<K>> {
    if (this.#ended !== null) throw this.#ended
    const id = this.#next++
    const reply = new Promise<WorldReply<K>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    this.#socket.send(JSON.stringify({ id, kind, ...fields }))
    return reply
  }

  /** Fails the waiting requests, and all later ones. */
  end(reason: RankweaveError): void {
    if (this.#ended !== null) return
    this.#ended = reason
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.#listener.onEnd(reason)
  }

  #receive(data: unknown): void {
    if (this.#ended !== null) return
    const message = messageOf(data)
    if (message === null) this.#refuse()
    else if ('reply' in message) this.#replied(message)
    else if (message.event === 'refused') this.#refused(message)
    else this.#listener.onEvent(message)
  }

  #replied({ reply, error, ...rest }: Reply): void {
    const waiting = this.#waiting.get(reply)
    if (waiting === undefined) {
      this.#refuse()
      return
    }
    this.#waiting.delete(reply)
    if (error === undefined) waiting.resolve(rest as never)
    else waiting.reject(errorOf(error, 'refused'))
  }

  #refused({ id, error }: WorldEvent<'refused'>): void {
    const refusal = errorOf(error, 'refused')
    const waiting = id === null ? undefined : this.#waiting.get(id)
    if (waiting === undefined) this.#refusal = refusal
    else {
      this.#waiting.delete(id!)
      waiting.reject(refusal)
    }
  }

  #refuse(): void {
    this.#socket.close()
    this.end(new RankweaveError('ERR_PROTOCOL', 'expected a message of the protocol of worlds'))
  }
}

interface Reply {
  readonly reply: number
  readonly error?: CallError
}

/** Parses a message; null if it is not one of the protocol. */
function messageOf(data: unknown): WorldEvent | Reply | null {
  if (typeof data !== 'string') return null
  try {
    const message = Object(JSON.parse(data)) as Partial<Record<'reply' | 'event', unknown>>
    return typeof message.event === 'string' || typeof message.reply === 'number'
      ? (message as unknown as WorldEvent | Reply)
      : null
  } catch {
    return null
  }
}

/**
 * The part of a WebSocket that a member of a world uses, common to browsers, the package `ws` and Node 22.
 */
export interface ClientSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'error', listener: (event: object) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
}

/** Makes a socket that connects to an address which begins with `ws:` or `wss:`. */
export type MakeSocket = (url: string) => ClientSocket

/**
 * Returns the socket of the platform: that of browsers and Node 22, or that of the package `ws` on Node 20.
 * @throws ERR_SERVICE
 */
async function platformSocket(): Promise<MakeSocket> {
  const { WebSocket } = globalThis as { readonly WebSocket?: new (url: string) => ClientSocket }
  if (WebSocket !== undefined) return (url) => new WebSocket(url)
  // The name is not a literal, for which bundlers of pages would look.
  const name: string = 'ws'
  try {
    const ws = (await import(/* @vite-ignore */ name)) as {
      readonly WebSocket: new (url: string, options: object) => ClientSocket
    }
    return (url) => new ws.WebSocket(url, { perMessageDeflate: false })
  } catch (cause) {
    throw new RankweaveError(
      'ERR_SERVICE',
      'there is no WebSocket here, nor the package ws: expected the option webSocket',
      { cause },
    )
  }
}
