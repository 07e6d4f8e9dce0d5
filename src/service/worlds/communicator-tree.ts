import type { WorldInfo } from '../protocol/worlds.js'

export type Operation = WorldInfo['communicators'][number]['operation']

/** A communicator of a world, as it was made. */
interface Entry {
  readonly id: string
  readonly operation: Operation
  readonly color: number | null
  readonly size: number
  /** World rank by rank, of members that have told. */
  readonly holders: Map<number, number>
  readonly children: Set<Entry>
  parent: Entry | undefined
}

/** Most communicators, and most world ranks of all communicators, that {@link CommunicatorTree.list} has. */
const mostListed = 512
const mostRanks = 16_384

/**
 * Which communicators the members of a world hold, and of which each was made. One that nobody holds any more is removed, and
 * those made of it become children of its parent; so memory is bounded by what members hold.
 */
export class CommunicatorTree {
  readonly #entries = new Map<string, Entry>()

  /** A member has got a communicator. */
  add(
    id: string,
    parent: string | null,
    operation: Operation,
    color: number | null,
    size: number,
    rank: number,
    worldRank: number,
  ): void {
    let entry = this.#entries.get(id)
    if (entry === undefined) {
      const above = parent === null ? undefined : this.#entries.get(parent)
      entry = { id, operation, color, size, holders: new Map(), children: new Set(), parent: above }
      above?.children.add(entry)
      this.#entries.set(id, entry)
    }
    entry.holders.set(rank, worldRank)
  }

  /** A member does not hold a communicator any more. */
  release(id: string, rank: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined || !entry.holders.delete(rank) || entry.holders.size > 0) return
    this.#entries.delete(id)
    const { parent, children } = entry
    parent?.children.delete(entry)
    for (const child of children) {
      child.parent = parent
      parent?.children.add(child)
    }
  }

  parentOf(id: string): { readonly parent: string | null; readonly operation: Operation } {
    const entry = this.#entries.get(id)
    return { parent: entry?.parent?.id ?? null, operation: entry?.operation ?? 'world' }
  }

  /** Of each those who hold it: ranks that have freed it are left out. */
  list(): Pick<WorldInfo, 'communicators' | 'hidden'> {
    const communicators: WorldInfo['communicators'] = []
    let ranks = 0
    for (const { id, parent, operation, color, size, holders } of this.#entries.values()) {
      if (communicators.length === mostListed) break
      ranks += holders.size
      const worldRanks =
        ranks > mostRanks ? null : [...holders].sort(([a], [b]) => a - b).map(([, worldRank]) => worldRank)
      communicators.push({ id, parent: parent?.id ?? null, operation, color, size, worldRanks })
    }
    return { communicators, hidden: this.#entries.size - communicators.length }
  }
}
