import type { WorldInfo } from '../../client/protocol/worlds.js'

export type CreatingCall = WorldInfo['communicators'][number]['operation']

/** A communicator of a world, as it was made. */
interface Entry {
  readonly id: string
  readonly operation: CreatingCall
  readonly color: number | null
  readonly size: number
  /** World rank by rank, of members that have told. */
  readonly holders: Map<number, number>
  readonly children: Set<Entry>
  parent: Entry | undefined
  /** No member still holds it. */
  isGone: boolean
}

/** What a new communicator is made of; made before a member can free that. */
export type Parent = { readonly entry: Entry | undefined }

/** Communicators, and world ranks of all of them, that may still be listed: what is sent is bounded. */
export interface ListBudget {
  communicators: number
  ranks: number
}

export const listBudget = (): ListBudget => ({ communicators: 512, ranks: 16_384 })

/**
 * Which communicators the members of a world hold, and of which each was made. One that no member holds
 * is removed, and those made of it become children of its parent; so memory is bounded by what members hold.
 */
export class CommunicatorTree {
  readonly #entries = new Map<string, Entry>()

  /** What a call that has begun makes a communicator of. @param id null: of nothing */
  parent(id: string | null): Parent {
    return { entry: id === null ? undefined : this.#entries.get(id) }
  }

  /**
   * A member has got a communicator. Where its parent was freed meanwhile, it is a child of the nearest that
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

  /** A member no longer holds a communicator. */
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

  /** Of each those who hold it: ranks that have freed it are left out. */
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
