import type { WorldEvent, WorldInfo } from '../../client/protocol/worlds.js'
import { RankweaveError } from '../../errors.js'
import type { Communicator } from '../../handles/communicator.js'

/**
 * Returns a name that is the same at all ranks of a communicator, and unique in its world: its leader's world rank, and
 * that process's counter.
 */
function communicatorName(communicator: Communicator): string {
  const { leader, counter } = communicator.seatToFree().state.id
  return `${leader}.${counter}`
}

/** The services that a member needs from its world. */
export interface MemberWorld {
  readonly id: string
  readonly tree: CommunicatorTree
  /** Returns the address that a member has published; null if there is none. */
  addressOf(worldRank: number): string | null
  /** Reports that the information shown of it has changed. */
  changed(): void
  /** Reports that a member has left, or is lost. @param reason for the others */
  depart(member: ServedMember, state: 'left' | 'lost', reason: string): void
}

export interface MemberClient {
  /** The number of bytes that it has not read. */
  readonly unreadBytes: number
  send(event: WorldEvent): void
}

/** The part of a socket in one world: its rank, and the communicators that it holds, by id. */
export class ServedMember {
  readonly world: MemberWorld
  readonly client: MemberClient
  readonly #communicators = new Map<string, Communicator>()
  readonly #mostCommunicators: number
  /** The number of communicators that calls in flight may bring. */
  #expected = 0
  state: 'waiting' | 'running' | 'left' | 'lost' = 'waiting'
  address: string | null
  worldRank = -1
  #finish: (() => void) | undefined

  constructor(world: MemberWorld, client: MemberClient, address: string | null, mostCommunicators: number) {
    this.world = world
    this.client = client
    this.address = address
    this.#mostCommunicators = mostCommunicators
  }

  /** Begins the member's rank, because the world has begun. @returns when the member has left, or is lost */
  begin(world: Communicator): Promise<void> {
    this.worldRank = world.rank
    this.state = 'running'
    this.#hold('world', world, this.world.tree.parent(null), 'world', null)
    return new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  /**
   * @throws ERR_NOT_FOUND for a communicator that this member does not have, ERR_WORLD before the world has
   *   begun, ERR_WORLD_ENDED when it has ended
   */
  communicator(id: string): Communicator {
    const found = this.#communicators.get(id)
    if (found !== undefined) return found
    if (this.state === 'waiting')
      throw new RankweaveError('ERR_WORLD', 'the world waits for members: calls are permitted after `begun`')
    if (this.state !== 'running')
      throw new RankweaveError('ERR_WORLD_ENDED', `${this.world.id} has ended: join another world`)
    throw new RankweaveError(
      'ERR_NOT_FOUND',
      `this member has no communicator ${id}: it was freed, or is not of this world`,
    )
  }

  /**
   * Makes a communicator, for which there is room.
   *
   * @param of the communicator that it is made of
   * @throws ERR_LIMIT when this member has too many communicators, ERR_WORLD when it has left before the call was
   *   complete
   */
  async make(
    of: string,
    operation: CreatingCall,
    color: number | null,
    run: (from: Communicator) => Promise<Communicator | null>,
  ): Promise<{ comm: string | null; rank: number | null; size: number | null }> {
    const from = this.communicator(of)
    const parent = this.world.tree.parent(of)
    if (this.#communicators.size + this.#expected >= this.#mostCommunicators) {
      throw new RankweaveError(
        'ERR_LIMIT',
        `expected at most ${this.#mostCommunicators} communicators of a member (maxCommunicators): free some`,
      )
    }
    this.#expected++
    try {
      const made = await run(from)
      if (this.state !== 'running')
        throw new RankweaveError('ERR_WORLD', `${operation}: this member has left its world`)
      if (made === null) return { comm: null, rank: null, size: null }
      const comm = communicatorName(made)
      this.#hold(comm, made, parent, operation, color)
      return { comm, rank: made.rank, size: made.size }
    } finally {
      this.#expected--
    }
  }

  /** Takes a communicator from this member; pending calls on it continue. */
  take(id: string): Communicator {
    const communicator = this.communicator(id)
    if (id === 'world')
      throw new RankweaveError('ERR_ARGUMENT', 'free: `world` is not freed: leave the world instead')
    this.#release(id, communicator)
    return communicator
  }

  /** Returns everything: the rank's main returns. */
  end(state: 'left' | 'lost'): void {
    this.state = state
    for (const [id, communicator] of this.#communicators) this.#release(id, communicator)
    this.#finish?.()
    this.#finish = undefined
  }

  #hold(
    id: string,
    communicator: Communicator,
    parent: Parent,
    operation: CreatingCall,
    color: number | null,
  ): void {
    this.#communicators.set(id, communicator)
    const { size, rank } = communicator
    this.world.tree.add(id, parent, operation, color, size, rank, this.worldRank)
    this.world.changed()
  }

  #release(id: string, { rank }: Communicator): void {
    this.#communicators.delete(id)
    this.world.tree.release(id, rank)
    this.world.changed()
  }
}

type CreatingCall = WorldInfo['communicators'][number]['operation']

/** A communicator of a world, as it was made. */
interface Entry {
  readonly id: string
  readonly operation: CreatingCall
  readonly color: number | null
  readonly size: number
  /** The world ranks by rank, of members that have reported. */
  readonly holders: Map<number, number>
  readonly children: Set<Entry>
  parent: Entry | undefined
  /** Whether no member holds it any longer. */
  isGone: boolean
}

/** The parent of a new communicator; taken before a member can free that. */
type Parent = { readonly entry: Entry | undefined }

/** The number of communicators, and of world ranks of all of them, that may still be listed: messages are bounded. */
export interface ListBudget {
  communicators: number
  ranks: number
}

export const listBudget = (): ListBudget => ({ communicators: 512, ranks: 16_384 })

/**
 * The communicators that the members of a world hold, each with the one it was made of. One that no member holds is
 * removed, and its children become children of its parent; so memory is bounded by what members hold.
 */
export class CommunicatorTree {
  readonly #entries = new Map<string, Entry>()

  /** Returns the parent of a communicator that a call which has begun makes. @param id null: it has none */
  parent(id: string | null): Parent {
    return { entry: id === null ? undefined : this.#entries.get(id) }
  }

  /**
   * Notes that a member has got a communicator. If its parent was freed meanwhile, it is a child of the nearest that
   * was not.
   */
  add(
    id: string,
    parent: Parent,
    operation: CreatingCall,
    color: number | null,
    size: number,
    rank: number,
    worldRank: number,
  ): void {
    let entry = this.#entries.get(id)
    if (entry === undefined) {
      let above = parent.entry
      while (above?.isGone === true) above = above.parent
      entry = {
        ...{ id, operation, color, size, parent: above, isGone: false },
        ...{ holders: new Map(), children: new Set() },
      }
      above?.children.add(entry)
      this.#entries.set(id, entry)
    }
    entry.holders.set(rank, worldRank)
  }

  /** Notes that a member no longer holds a communicator. */
  release(id: string, rank: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined || !entry.holders.delete(rank) || entry.holders.size > 0) return
    this.#entries.delete(id)
    entry.isGone = true
    const { parent, children } = entry
    parent?.children.delete(entry)
    for (const child of children) {
      child.parent = parent
      parent?.children.add(child)
    }
  }

  parentOf(id: string): { readonly parent: string | null; readonly operation: CreatingCall } {
    const entry = this.#entries.get(id)
    return { parent: entry?.parent?.id ?? null, operation: entry?.operation ?? 'world' }
  }

  /** Lists communicators with the ranks that hold them: ranks that have freed one are omitted. */
  list(budget: ListBudget): Pick<WorldInfo, 'communicators' | 'hidden'> {
    const communicators: WorldInfo['communicators'] = []
    for (const { id, parent, operation, color, size, holders } of this.#entries.values()) {
      if (budget.communicators === 0) break
      budget.communicators--
      const isShown = holders.size <= budget.ranks
      if (isShown) budget.ranks -= holders.size
      const worldRanks = !isShown
        ? null
        : [...holders].sort(([a], [b]) => a - b).map(([, worldRank]) => worldRank)
      communicators.push({ id, parent: parent?.id ?? null, operation, color, size, worldRanks })
    }
    return { communicators, hidden: this.#entries.size - communicators.length }
  }
}
