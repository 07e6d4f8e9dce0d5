import type { WorldInfo } from '../../client/protocol/worlds.js'

export type CreatingCall = WorldInfo['communicators'][number]['operation']

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
export type Parent = { readonly entry: Entry | undefined }

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
