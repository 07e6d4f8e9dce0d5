import { type EventEmitter, once } from 'node:events'
import { onTestFinished } from 'vitest'
import type { WorldServiceLimits } from '../../src/client/protocol/limits.js'
import {
  type CallError,
  type WorldEvent,
  type WorldEventKind,
  type WorldKind,
  type WorldReply,
  type WorldRequestInput,
  worldEvents,
  worldReplies,
} from '../../src/client/protocol/worlds.js'
import { RankweaveError } from '../../src/errors.js'
import { Tenants } from '../../src/service/tenant.js'
import { WorldService } from '../../src/service/worlds/world-service.js'
import type { Socket } from '../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../src/websocket/socket/transport-nodejs.js'
import { MemorySocket } from './memory-socket.js'
import { silentLog } from './silent-log.js'

/** The fields of a request that differ by its kind. */
type Fields<K extends WorldKind> = Omit<WorldRequestInput<K>, 'id' | 'kind'>

type ClientSocket = Socket & { terminate(): void }

/**
 * A client of a service, in memory or over a socket that is open. Every message that it gets must be one of
 * the protocol.
 */
export class AskingMember {
  readonly socket: ClientSocket
  readonly events: WorldEvent[] = []
  closed: { readonly code: number; readonly reason: string } | undefined
  readonly #waiting = new Map<
    number,
    { kind: WorldKind; resolve(reply: never): void; reject(error: unknown): void }
  >()
  readonly #awaited: { event: WorldEventKind; resolve(event: never): void }[] = []
  readonly #closing: (() => void)[] = []
  #next = 1

  constructor(service: WorldService | ClientSocket) {
    const own = service instanceof WorldService ? socketTo(service) : service
    this.socket = own
    own.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data as string)))
    own.addEventListener('close', (closed) => {
      this.closed = closed
      for (const { reject } of this.#waiting.values()) reject(new Error(`closed with code ${closed.code}`))
      this.#waiting.clear()
      for (const resolve of this.#closing) resolve()
    })
  }

  /** @param url of the service */
  static async connected(url: string, token?: string): Promise<AskingMember> {
    const transport = nodeTransport({ maxMessageBytes: 2 ** 20 })
    const socket = transport.dial(`${url.replace('http', 'ws')}/v1/worlds`) as Socket &
      EventEmitter &
      ClientSocket
    await once(socket, 'open')
    const member = new AskingMember(socket)
    await member.ask('hello', { protocol: 1, ...(token === undefined ? {} : { token }) })
    return member
  }

  static async greeted(service: WorldService, token?: string): Promise<AskingMember> {
    const member = new AskingMember(service)
    await member.ask('hello', { protocol: 1, ...(token === undefined ? {} : { token }) })
    return member
  }

  ask<K extends WorldKind>(kind: K, fields: Fields<K>): Promise<WorldReply<K>> {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { kind, resolve, reject })
      this.say({ id, kind, ...fields })
    })
  }

  /** Sends a message unchanged. */
  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** The next event of a kind, one that has arrived included. */
  event<K extends WorldEventKind>(event: K): Promise<WorldEvent<K>> {
    const at = this.events.findIndex((each) => each.event === event)
    if (at >= 0) return Promise.resolve(this.events.splice(at, 1)[0] as WorldEvent<K>)
    return new Promise((resolve) => {
      this.#awaited.push({ event, resolve })
    })
  }

  whenClosed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.closed === undefined) this.#closing.push(resolve)
      else resolve()
    })
  }

  #receive(message: { reply?: number; error?: CallError; event?: WorldEventKind }): void {
    if (message.event !== undefined) {
      const event = worldEvents[message.event].parse(message) as WorldEvent
      const at = this.#awaited.findIndex((each) => each.event === event.event)
      if (at < 0) this.events.push(event)
      else this.#awaited.splice(at, 1)[0].resolve(event as never)
      return
    }
    const { reply, error, ...rest } = message
    const waiting = this.#waiting.get(reply!)
    if (waiting === undefined) throw new Error(`a reply to nothing: ${JSON.stringify(message)}`)
    this.#waiting.delete(reply!)
    if (error !== undefined) waiting.reject(RankweaveError.fromRecord(error as never))
    else waiting.resolve(worldReplies[waiting.kind].parse(rest) as never)
  }
}

function socketTo(service: WorldService): MemorySocket {
  const [own, other] = MemorySocket.pair()
  service.accept(other, 'memory')
  return own
}

/** Worlds of a service, which ends with the test. */
export function worldService(
  limits: Partial<WorldServiceLimits> = {},
  tokens: readonly string[] | null = null,
): WorldService {
  const service = new WorldService({ tenants: new Tenants(tokens), log: silentLog, limits })
  onTestFinished(() => service.close())
  return service
}

/** Members of one world that has begun, by rank. */
export async function begunWorld(
  service: WorldService,
  members: number,
  token?: string,
): Promise<AskingMember[]> {
  const all = await Promise.all(Array.from({ length: members }, () => AskingMember.greeted(service, token)))
  const { world } = await all[0].ask('createWorld', { members })
  await Promise.all(all.map((member) => member.ask('join', { world })))
  const begun = await Promise.all(all.map((member) => member.event('begun')))
  const byRank: AskingMember[] = []
  begun.forEach(({ rank }, n) => {
    byRank[rank] = all[n]
  })
  return byRank
}

/** Every member asks the same. */
export const askAll = <K extends WorldKind>(
  members: readonly AskingMember[],
  kind: K,
  fields: Fields<K>,
): Promise<WorldReply<K>[]> => Promise.all(members.map((member) => member.ask(kind, fields)))
