import { RankweaveError } from '../../errors.js'
import type { WorldInfo } from '../protocol/worlds.js'
import { endedError, toCallError } from './call-error.js'
import { CommunicatorTree } from './communicator-tree.js'
import type { Member, MemberWorld } from './member.js'
import type { WorldHost } from './world-host.js'

export interface AskedWorldOptions {
  readonly id: string
  readonly name: string | null
  readonly members: number
  readonly host: WorldHost
  /** Its `info` is another one now. */
  readonly onChange: () => void
  /** It is over, or was discarded before it began. @param error what ended it; undefined where nothing did */
  readonly onEnd: (error: unknown) => void
}

/**
 * A world whose members ask. It waits for all of them, runs, and ends when each has left or is lost.
 *
 * Memory: what its members hold, and one process of its fabric for each.
 */
export class AskedWorld implements MemberWorld {
  readonly tree = new CommunicatorTree()
  readonly #options: AskedWorldOptions
  readonly #createdAt = new Date().toISOString()
  readonly #waiting = new Set<Member>()
  /** By world rank, once it has begun. */
  #members: readonly Member[] = []
  /** Sockets that keep a world that waits. */
  readonly #creators = new Set<object>()
  #state: 'waiting' | 'running' | 'ended' = 'waiting'

  constructor(options: AskedWorldOptions) {
    this.#options = options
  }

  get id(): string {
    return this.#options.id
  }

  get name(): string | null {
    return this.#options.name
  }

  get size(): number {
    return this.#options.members
  }

  get joined(): number {
    return this.#state === 'waiting' ? this.#waiting.size : this.size
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  /** A socket that made it keeps it. */
  keep(creator: object): void {
    this.#creators.add(creator)
  }

  /** The socket is gone. */
  unkeep(creator: object): void {
    if (this.#creators.delete(creator)) this.#discardIfUnwanted()
  }

  /** @throws ERR_WORLD_FULL when all members have joined */
  join(member: Member): void {
    if (this.#state !== 'waiting') {
      throw new RankweaveError('ERR_WORLD_FULL', `all ${this.size} members of ${this.id} have joined`)
    }
    this.#waiting.add(member)
    this.changed()
  }

  /** Begins if all have joined. */
  beginIfComplete(): void {
    if (this.#state === 'waiting' && this.#waiting.size === this.size) this.#begin()
  }

  addressOf(worldRank: number): string | null {
    return this.#members[worldRank]?.address ?? null
  }

  /** A member has left, or is lost; the others are told. */
  depart(member: Member, state: 'left' | 'lost', reason: string): void {
    if (member.state === 'waiting') {
      member.state = state
      if (!this.#waiting.delete(member)) return
      member.end(state)
      this.changed()
      this.#discardIfUnwanted()
      return
    }
    if (member.state !== 'running') return
    const { worldRank } = member
    if (state === 'lost') this.#options.host.lose(worldRank, reason)
    member.end(state)
    if (state === 'left') this.#options.host.leave(worldRank)
    for (const other of this.#members) {
      if (other.state === 'running')
        other.send({ event: 'member', world: this.id, rank: worldRank, state, reason })
    }
  }

  /** Ends it, whatever its members do. */
  close(reason: string): void {
    if (this.#state === 'running') this.#options.host.fail(reason)
    // Members are told at once: their sockets may close next.
    this.#ended(new RankweaveError('ERR_WORLD_ENDED', reason))
  }

  changed(): void {
    if (this.#state !== 'ended') this.#options.onChange()
  }

  info(): WorldInfo {
    const { id, name, members } = this.#options
    const ranksOf = (state: Member['state']) =>
      this.#members.filter((member) => member.state === state).map(({ worldRank }) => worldRank)
    return {
      ...{ id, name, members, createdAt: this.#createdAt, joined: this.joined },
      state: this.#state === 'waiting' ? 'waiting' : 'running',
      left: ranksOf('left'),
      lost: ranksOf('lost'),
      ...this.tree.list(),
    }
  }

  #begin(): void {
    this.#state = 'running'
    const joined = [...this.#waiting]
    this.#waiting.clear()
    const members: Member[] = []
    let next = 0
    this.#options.host
      .run((world) => {
        const member = joined[next++]!
        // Closed while its processes were started.
        if (this.#state === 'ended') return Promise.resolve()
        members[world.rank] = member
        const isGone = member.state !== 'waiting'
        const left = member.begin(world)
        // Its socket closed while the processes were started; the others must have begun to hear of it.
        if (isGone) queueMicrotask(() => this.depart(member, 'lost', 'its socket closed'))
        const { rank, size } = world
        member.send({ event: 'begun', world: this.id, rank, size, comm: 'world' })
        return left
      })
      .then(
        () => this.#ended(undefined),
        (error: unknown) => this.#ended(error),
      )
    this.#members = members
  }

  #discardIfUnwanted(): void {
    if (this.#state === 'waiting' && this.#waiting.size === 0 && this.#creators.size === 0) {
      this.#ended(undefined)
    }
  }

  #ended(error: unknown): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    const told = toCallError(endedError(error ?? 'it is over'))
    for (const member of [...this.#members, ...this.#waiting]) {
      if (member.state !== 'running' && member.state !== 'waiting') continue
      member.end('lost')
      member.send({ event: 'ended', world: this.id, error: told })
    }
    this.#waiting.clear()
    this.#options.onEnd(error)
  }
}
